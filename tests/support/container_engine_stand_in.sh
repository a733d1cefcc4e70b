#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Paddock authors
# Stands in for docker in tests: the same words in, the same words and exit codes out, and a real sandbox server for `run`.
# It isolates nothing. State: $STAND_IN_STATE (containers/NAME/..., calls, faults/VERB); the server: $STAND_IN_SERVER.
# faults/VERB holds lines, each used once: "hang", "fail TEXT", "fail-after TEXT" (does the work and fails), "dead" (run: a
# container whose server never answers), "flood". A line that begins with "always " stays.
set -u
state=$STAND_IN_STATE
mkdir -p "$state/containers" "$state/faults"
printf '%s\n' "$*" >> "$state/calls"
verb=${1:-}
[ $# -gt 0 ] && shift

fault=
take_fault() {
    local file=$state/faults/$verb
    [ -s "$file" ] || return 0
    fault=$(head -n 1 "$file")
    case $fault in
    always\ *) fault=${fault#always } ;;
    *) sed -i 1d "$file" ;;
    esac
}
take_fault
after=
case $fault in
hang) exec sleep 1000 ;;
flood) exec cat /dev/zero ;;
fail\ *) printf '%s\n' "${fault#fail }" >&2; exit 1 ;;
fail-after\ *) after=${fault#fail-after } ;;
esac

# Not by a signal: one that nobody has reaped yet would answer it.
alive() { local words; read -r -a words 2> /dev/null < "/proc/$1/stat" && [ "${words[2]}" != Z ]; }
running() { [ -f "$state/containers/$1/pid" ] && alive "$(cat "$state/containers/$1/pid")" 2> /dev/null; }
quoted() { local t=${1//\\/\\\\}; t=${t//\"/\\\"}; printf '"%s"' "$t"; }
known() { [ -n "$1" ] && [ -d "$state/containers/$1" ]; }
# A container that ended by itself is gone, because it was started with --rm.
sweep() { known "$1" && [ ! -f "$state/containers/$1/keep" ] && ! running "$1" && rm -rf "$state/containers/$1"; return 0; }
list() { # "KEY=VALUE" lines as JSON strings
    local first=1 line
    printf '['
    while IFS= read -r line; do
        [ $first = 1 ] || printf ','
        first=0
        quoted "$line"
    done < "$1"
    printf ']'
}
object() {
    local first=1 line
    printf '{'
    while IFS= read -r line; do
        [ $first = 1 ] || printf ','
        first=0
        quoted "${line%%=*}"; printf ':'; quoted "${line#*=}"
    done < "$1"
    printf '}'
}
describe() {
    local dir=$state/containers/$1 status=running up=true
    running "$1" || { status=exited; up=false; }
    printf '{"Id":%s,"Created":"%s","Name":%s,"State":{"Status":"%s","Running":%s},' "$(quoted "$(cat "$dir/id")")" "$(cat "$dir/created")" "$(quoted "/$1")" $status $up
    printf '"Config":{"Env":%s,"Labels":%s}}' "$(list "$dir/env")" "$(object "$dir/labels")"
}

run() {
    local name= publish= image= env=() labels=() workspace= dir
    while [ $# -gt 0 ]; do
        case $1 in
        --name) name=$2; shift 2 ;;
        -p) publish=$2; shift 2 ;;
        -e) case $2 in *=*) env+=("$2") ;; *) [ -n "${!2+x}" ] && env+=("$2=${!2}") ;; esac; shift 2 ;;
        --label) labels+=("$2"); shift 2 ;;
        --mount) case $2 in *dst=/mnt/user-data/workspace*) workspace=${2#*src=}; workspace=${workspace%%,*} ;; esac; shift 2 ;;
        --security-opt | --memory | --cpus | --pids-limit | --user | --network) shift 2 ;;
        -*) shift ;;
        *) image=$1; break ;;
        esac
    done
    [ -n "$image" ] || { echo "docker: 'docker run' requires at least 1 argument" >&2; exit 125; }
    sweep "$name"
    if known "$name"; then
        echo "docker: Error response from daemon: Conflict. The container name \"/$name\" is already in use by container \"$(cat "$state/containers/$name/id")\". You have to remove (or rename) that container to be able to reuse that name." >&2
        exit 125
    fi
    local address=${publish%:*} port sessions=10 pair
    port=${address##*:}
    address=${address%:*}
    for pair in "${env[@]+"${env[@]}"}"; do case $pair in MAX_SHELL_SESSIONS=*) sessions=${pair#*=} ;; esac; done
    dir=$state/containers/$name
    mkdir -p "$dir/home"
    printf '%s\n' "$address:$port" > "$dir/port"
    date -u +%Y-%m-%dT%H:%M:%S.%NZ > "$dir/created"
    od -An -tx1 -N32 /dev/urandom | tr -d ' \n' > "$dir/id"
    : > "$dir/env"; : > "$dir/labels"
    [ ${#env[@]} -gt 0 ] && printf '%s\n' "${env[@]}" > "$dir/env"
    [ ${#labels[@]} -gt 0 ] && printf '%s\n' "${labels[@]}" > "$dir/labels"
    if [ "$fault" = dead ]; then
        setsid sleep 1000 < /dev/null > /dev/null 2>&1 &
        echo $! > "$dir/pid"
    else
        : > "$dir/ready"
        env -i PATH="$PATH" HOME="$dir/home" "${env[@]+"${env[@]}"}" setsid "$STAND_IN_SERVER" --listen "$address:$port" --workspace "${workspace:-$dir/home}" \
            --home "$dir/home" --max-shell-sessions "$sessions" --ready-fd 3 < /dev/null > "$dir/log" 2>&1 3> "$dir/ready" &
        echo $! > "$dir/pid"
        local i
        for i in $(seq 200); do
            [ -s "$dir/ready" ] && break
            running "$name" || break
            sleep 0.02
        done
        if [ ! -s "$dir/ready" ]; then
            rm -rf "$dir"
            echo "docker: Error response from daemon: driver failed programming external connectivity on endpoint $name: Bind for $address:$port failed: port is already allocated." >&2
            exit 125
        fi
    fi
    if [ -n "$after" ]; then printf '%s\n' "$after" >&2; exit 125; fi
    cat "$dir/id"
    echo
}

inspect() {
    local format= name missing=0 first=1
    [ "${1:-}" = -f ] && { format=$2; shift 2; }
    [ -z "$format" ] && printf '['
    for name in "$@"; do
        sweep "$name"
        if ! known "$name"; then
            missing=1
            echo "Error: No such object: $name" >&2
            continue
        fi
        if [ -n "$format" ]; then
            if running "$name"; then echo true; else echo false; fi
        else
            [ $first = 1 ] || printf ','
            first=0
            describe "$name"
        fi
    done
    [ -z "$format" ] && printf ']\n'
    exit $missing
}

stop() {
    local name=${1:-} pid i
    sweep "$name"
    known "$name" || { echo "Error response from daemon: No such container: $name" >&2; exit 1; }
    pid=$(cat "$state/containers/$name/pid")
    kill "$pid" 2> /dev/null
    for i in $(seq 200); do
        alive "$pid" 2> /dev/null || break
        [ "$i" = 100 ] && kill -9 "$pid" 2> /dev/null
        sleep 0.02
    done
    if [ -f "$state/containers/$name/keep" ]; then :; else rm -rf "$state/containers/$name"; fi
    echo "$name"
}

case $verb in
run) run "$@" ;;
inspect) inspect "$@" ;;
stop) stop "$@" ;;
port)
    sweep "$1"
    known "$1" || { echo "Error response from daemon: No such container: $1" >&2; exit 1; }
    cat "$state/containers/$1/port"
    ;;
ps)
    filter=
    while [ $# -gt 0 ]; do
        case $1 in --filter) filter=${2#name=}; shift 2 ;; *) shift ;; esac
    done
    for dir in "$state"/containers/*/; do
        name=$(basename "$dir")
        sweep "$name"
        case $name in *"$filter"*) running "$name" && echo "$name" ;; esac # anywhere in the name, as docker does
    done
    exit 0
    ;;
rm)
    known "$1" || { echo "Error response from daemon: No such container: $1" >&2; exit 1; }
    running "$1" && { echo "Error response from daemon: cannot remove container \"/$1\": container is running: stop the container before removing or force remove" >&2; exit 1; }
    rm -rf "$state/containers/$1"
    echo "$1"
    ;;
logs)
    known "$1" || { echo "Error response from daemon: No such container: $1" >&2; exit 1; }
    cat "$state/containers/$1/log"
    ;;
network) echo 172.17.0.1 ;;
version | --version) echo "Docker version 28.2.2, build stand-in" ;;
*) echo "docker: '$verb' is not a docker command." >&2; exit 1 ;;
esac
