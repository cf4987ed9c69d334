#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs this bundle of Tailrace, without root and without a network.
#   install.sh --prefix DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) prefix=${2:-}; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    *) echo "install.sh: error: unknown argument \"$1\"" >&2; prefix=; break ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    echo "usage: install.sh --prefix DIR" >&2
    exit 2
fi
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
wanted=$(cat "$here/PYTHON")
version=$(cat "$here/VERSION")

python=
for candidate in "${PYTHON:-python$wanted}" python3 /usr/bin/python3; do
    if [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$wanted" ]; then
        python=$(command -v "$candidate")
        break
    fi
done
if [ -z "$python" ]; then
    echo "install.sh: error: the wheels in here are for Python $wanted, which was not found" >&2
    echo "       hint: PYTHON=/path/to/python$wanted install.sh --prefix DIR" >&2
    exit 1
fi

packages=$prefix/lib/tailrace/python
rm -rf "$packages"
cp -a "$here/tree/." "$prefix/"
pip=$(echo "$here"/wheels/pip-*.whl)
# pip runs out of its own wheel and sees no other packages (-I -S): of this Python nothing is assumed
# but its version.
"$python" -I -S -c '
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("pip", run_name="__main__", alter_sys=True)' "$pip" \
    --quiet --isolated --disable-pip-version-check install --root-user-action=ignore --no-index --no-cache-dir \
    --find-links "$here/wheels" --target "$packages" -r "$here/requires.txt" </dev/null

# The Python of this machine.
sed -i "s|TAILRACE_PYTHON:-[^}]*}|TAILRACE_PYTHON:-$python}|" "$prefix/bin/tailrace"

module=$prefix/share/modulefiles/tailrace/$version
sed "s|^set prefix .*|set prefix \"$prefix\"|" "$module" >"$module.new" && mv "$module.new" "$module"
cat >"$prefix/env.sh" <<EOF
# Puts Tailrace on the paths of the current shell:   . $prefix/env.sh
export TAILRACE_HOME='$prefix'
case ":\$PATH:" in *":\$TAILRACE_HOME/bin:"*) ;; *) export PATH="\$TAILRACE_HOME/bin:\$PATH" ;; esac
case ":\${LD_LIBRARY_PATH-}:" in *":\$TAILRACE_HOME/lib:"*) ;; *)
    export LD_LIBRARY_PATH="\$TAILRACE_HOME/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" ;;
esac
EOF

missing=$(ldd "$prefix/bin/tailrace-seism" 2>/dev/null | awk '/not found/ { print $1 }' | xargs)
echo "Tailrace $version is in $prefix"
echo "  for this shell:  . $prefix/env.sh"
echo "  as a module:     module use $prefix/share/modulefiles && module load tailrace"
if [ -n "$missing" ]; then
    echo "  but these libraries are not on this machine: $missing"
    echo "  (libmpi belongs to the machine: load its MPI module, or install openmpi-bin)"
fi
