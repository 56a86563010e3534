#!/usr/bin/env bash
# A launcher: what it starts depends on who calls it.
MODEL="$1"; shift
TYPE=draft-mtp
if [ "${NO_DRAFT:-0}" = 1 ]; then
  TYPE=none
fi
for K in 1 3 5; do
  llama-server -m "$MODEL" --spec-type "$TYPE" --spec-draft-n-max "$K" --metrics $LLAMA_EXTRA "$@"
done
