#!/bin/sh
# A parallel build whose links need much memory: two of them at a time, while all else is as parallel
# as make likes. Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # a place of its own, so that this example disturbs nobody
cd "$dir"

cat >Makefile <<'END'
PROGRAMS = one two three four five six

.PHONY: all
all: $(PROGRAMS)

$(PROGRAMS): %: %.o
	usher run linkers -k 2 -- ./link $@ $<

%.o:
	touch $@
END

# This stands for the linker. It notes when it begins and when it ends.
cat >"link" <<'END'
#!/bin/sh
echo begin >>links
sleep 0.2
cp "$2" "$1"
echo end >>links
END
chmod +x link

make -s -j 8
awk '/begin/ { now++; all++ } /end/ { now-- } now > most { most = now }
     END { print all " links, at most " most " at a time" }' links
