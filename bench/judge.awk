# judge.awk - lines of figures in; the median of each out, and those that have a bound once more, judged. A table of these
# goes to standard error.
#   {"bench":…,"metric":…,"n":…,"value":…,"unit":…}     in, with "peer" if it is not ours; more keys behind these are
#   handed on, and a "batch" among them tells figures apart
#   BOUNDS in the environment, a line each: figure as judged, bench and metric it comes from, bench and metric it is taken
#   by (/ or *; - none) and by how much, relation (- none), bound, unit
#   There the benches of a peer are peer:bench, those with a batch bench/batch.
function field(line, name,   at, rest) {
    at = index(line, "\"" name "\":")
    if (!at) return "-"
    rest = substr(line, at + length(name) + 3)
    sub(/[,}].*/, "", rest)
    gsub(/"/, "", rest)
    return rest
}
function series(line,   peer, batch) {
    peer = field(line, "peer")
    batch = field(line, "batch")
    return (peer == "-" || peer == "diurnal" ? "" : peer ":") field(line, "bench") (batch == "-" ? "" : "/" batch)
}
function median(key,   n, i, j, v, t) {
    n = count[key]
    for (i = 1; i <= n; i++) v[i] = value[key, i] + 0
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
{
    key = series($0) SUBSEP field($0, "metric")
    if (!(key in count)) {
        key_of[++keys] = key
        peer[key] = field($0, "peer")
        bench[key] = field($0, "bench")
        n_of[key] = field($0, "n")
        unit[key] = field($0, "unit")
        more[key] = $0
        sub(/^.*"unit":"[^"]*"/, "", more[key])
        sub(/}$/, "", more[key])
    }
    value[key, ++count[key]] = field($0, "value")
}
END {
    for (i = 1; i <= keys; i++) {
        k = key_of[i]
        split(k, p, SUBSEP)
        printf "{\"peer\":\"%s\",\"bench\":\"%s\",\"n\":%s,\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"runs\":%d%s}\n",
            peer[k] == "-" ? "diurnal" : peer[k], bench[k], n_of[k], p[2], median(k), unit[k], count[k], more[k]
    }
    rows = split(ENVIRON["BOUNDS"], row, "\n")
    for (r = 1; r <= rows; r++) {
        if (split(row[r], b, " ") < 10) continue
        ours = b[2] SUBSEP b[3]
        other = b[5] SUBSEP b[6]
        if (!(ours in count) || (b[4] != "-" && !(other in count))) continue
        have = median(ours)
        if (b[4] == "/") have /= median(other)
        if (b[4] == "*") have *= median(other)
        have *= b[7]
        reach = verdict = ""
        if (b[8] != "-") {
            met = b[8] == "<=" ? have <= b[9] + 0 : have >= b[9] + 0
            reach = sprintf(",\"reach\":\"%s%s\",\"met\":%s", b[8], b[9], met ? "true" : "false")
            verdict = met ? "met" : "MISSED"
        }
        printf "{\"bench\":\"%s\",\"metric\":\"%s\",\"value\":%.4f,\"unit\":\"%s\"%s%s}\n", bench[ours], b[1], have, b[10], reach, more[ours]
        printf "%-30s %12.3f %-4s %-10s %-6s %s\n", b[1], have, b[10], b[8] == "-" ? "" : b[8] " " b[9], verdict, more[ours] >"/dev/stderr"
    }
}
