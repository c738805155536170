#!/bin/sh
# A parallel build whose link steps need much memory: at most two of them at once, while the rest stays as
# parallel as make allows. Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # pools of its own
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

# A stand-in for the linker. It records when it begins and when it ends.
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
