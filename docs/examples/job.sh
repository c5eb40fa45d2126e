#!/bin/sh
# A job as a process: nothing ever works out for bob, and everybody else is written down.
request=$(cat)
case $request in
*'"user_id":"bob"'*)
    echo 'no answer from the model' >&2
    echo '{"error_class":"llm"}'
    exit 1
    ;;
esac
echo "$DIURNAL_IDEMPOTENCY_KEY" >>"${TMPDIR:-/tmp}/jobs-done"
