#!/bin/sh
# Five training runs, two cards: each run gets a card of its own. Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # pools of its own
cd "$dir"

# A stand-in for a training run. It fails if another run uses its card.
cat >train <<'END'
#!/bin/sh
mkdir "card-$CUDA_VISIBLE_DEVICES" || exit 1
echo "run $1 begins on card $CUDA_VISIBLE_DEVICES"
sleep 0.2
echo "run $1 ends"
rmdir "card-$CUDA_VISIBLE_DEVICES"
END
chmod +x train

runs=
for run in 1 2 3 4 5; do
    usher run cards --labels 0,1 --env CUDA_VISIBLE_DEVICES -- ./train $run &
    runs="$runs $!"
    sleep 0.05 # the runs start one after the other
done
for run in $runs; do
    wait "$run"
done
