# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A picture of the window, made on a display without a screen. The program draws, grabs and quits by itself.
# Sourced by commands.sh.

# Seconds after which a window that did not grab itself is given up.
readonly SCREENSHOT_LIMIT=180

take_screenshot()
{
    local out='' size=1600x1000 workspace='' arguments=()
    while (($#)); do
        case $1 in
        --scenario | --panel | --theme | --size | --workspace)
            [[ -n ${2:-} ]] || die "$1 wants a value." 2
            case $1 in
            --size) size=$2 ;;
            --workspace) workspace=$2 ;;
            esac
            arguments+=("$1" "$2")
            shift
            ;;
        -*) die "screenshot knows no $1; ./dev --help shows what it takes." 2 ;;
        *)
            [[ -z $out ]] || die 'screenshot makes one picture at a time.' 2
            out=$1
            ;;
        esac
        shift
    done
    [[ -n $out ]] || die 'where to? ./dev screenshot OUT.png' 2
    [[ $size =~ ^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$ ]] || die "\"$size\" is no size; --size takes WxH, as in 1600x1000." 2
    [[ -n $workspace ]] || arguments+=(--workspace "$CHECKOUT")
    [[ $out == /* ]] || out=$PWD/$out
    [[ -d $(dirname "$out") ]] || die "there is no folder $(dirname "$out")."
    build_preset release quiet paddock paddock-sandboxd
    SCREENSHOT_FOLDER=$(mktemp -d)
    XVFB='' WINDOW=''
    trap end_screenshot EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    start_display "$size"
    rm -f "$out"
    # Settings and runs of its own: the picture is the same on every machine, and the user's runs stay alone.
    local home=$SCREENSHOT_FOLDER code=0
    XDG_CONFIG_HOME=$home/config XDG_DATA_HOME=$home/data XDG_STATE_HOME=$home/state XDG_CACHE_HOME=$home/cache \
        QT_QPA_PLATFORM=xcb QT_SCALE_FACTOR=1 WAYLAND_DISPLAY='' \
        timeout --kill-after=10 "$SCREENSHOT_LIMIT" "$BIN/paddock" --screenshot "$out" "${arguments[@]}" >&2 &
    WINDOW=$!
    wait "$WINDOW" || code=$?
    WINDOW=''
    ((code != 124)) || die "the window did not grab itself within $SCREENSHOT_LIMIT s."
    ((code == 0)) || die "paddock ended with exit code $code." "$code"
    [[ -s $out ]] || die "paddock ended without writing $out."
    printf '%s\n' "$out"
}

# A display that nobody else can draw on, with the first free number.
start_display()
{
    local size=$1 number='' waited=0 leash=()
    local folder=$SCREENSHOT_FOLDER
    setpriv --pdeathsig TERM true 2>/dev/null && leash=(setpriv --pdeathsig TERM)
    export XAUTHORITY=$folder/authority
    xauth -q -f "$XAUTHORITY" add :0 . "$(mcookie)" 2>/dev/null
    # The cookie must hold for whatever number the server picks. One xauth after the other: each locks the file.
    local cookie
    cookie=$(xauth -f "$XAUTHORITY" nlist :0)
    xauth -f "$XAUTHORITY" nmerge - <<<"ffff${cookie:4}" 2>/dev/null
    [[ -d /tmp/.X11-unix ]] || mkdir -m 1777 /tmp/.X11-unix 2>/dev/null || true
    : >"$folder/number"
    "${leash[@]}" Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp -noreset -auth "$XAUTHORITY" \
        3>"$folder/number" >"$folder/xvfb.log" 2>&1 &
    XVFB=$!
    while [[ -z $number ]]; do
        if ((waited++ > 200)) || ! kill -0 "$XVFB" 2>/dev/null; then
            tail -n 5 "$folder/xvfb.log" >&2
            die 'Xvfb did not start.'
        fi
        sleep 0.05
        number=$(tr -d '[:space:]' <"$folder/number")
    done
    export DISPLAY=:$number
}

end_screenshot()
{
    local process
    for process in "$WINDOW" "$XVFB"; do
        [[ -z $process ]] || { kill "$process" && wait "$process"; } 2>/dev/null || true
    done
    rm -rf "$SCREENSHOT_FOLDER"
}
