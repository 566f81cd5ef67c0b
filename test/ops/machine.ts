import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { MAIN, ROOT } from '../stage/places.ts'

const run = promisify(execFile)
const RUN_MS_MAX = 90_000

/** Settings of the system that the programs in the machine need. */
const SETTINGS =
  'passwd group shadow gshadow login.defs default/useradd nsswitch.conf ld.so.cache pam.d security alternatives nginx ssl/openssl.cnf'
/** Options of bwrap for a machine with its own processes and network, in which root is root. */
const MACHINE =
  '--unshare-pid --unshare-net --unshare-ipc --unshare-uts --die-with-parent --cap-add ALL --ro-bind /usr /usr --proc /proc --dev /dev --tmpfs /run --perms 1777 --tmpfs /tmp --clearenv --setenv PATH /usr/local/bin:/usr/sbin:/usr/bin'

/**
 * A machine for one script: the programs of this one, and its own settings, files, users, processes and network. It
 * needs root. Disposal removes its files.
 */
export type Machine = Disposable &
  Readonly<{
    /** Path here of a file in the machine, below `/etc`, `/var` or `/trace`. */
    at(path: string): string
    /** Runs a script as root. */
    run(script: string): Promise<Readonly<{ stdout: string; stderr: string }>>
  }>

/** Makes a machine in which `daybook` runs the sources of this clone, and where `host` is this machine. */
export function openMachine(host: string): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-machine-'))
  const at = (path: string): string => join(folder, path)
  for (const path of [
    'etc',
    'trace',
    'bin',
    'etc/systemd/system',
    'var/log/nginx',
    'var/lib/nginx',
    'var/cache',
  ])
    mkdirSync(at(path), { recursive: true })
  for (const path of SETTINGS.split(' ').filter((name) => existsSync(join('/etc', name))))
    cpSync(join('/etc', path), at(`etc/${path}`), { recursive: true, verbatimSymlinks: true })
  // Only the example serves.
  for (const path of ['sites-enabled', 'conf.d', 'modules-enabled']) {
    rmSync(at(`etc/nginx/${path}`), { recursive: true, force: true })
    mkdirSync(at(`etc/nginx/${path}`))
  }
  // Programs of every user write here.
  chmodSync(at('trace'), 0o1777)
  writeFileSync(at('etc/hosts'), `127.0.0.1 localhost ${host}\n`)
  const node = realpathSync(process.execPath)
  const systemctl = join(import.meta.dirname, 'systemctl.ts')
  for (const [name, file] of [['daybook', MAIN] as const, ['systemctl', systemctl] as const])
    writeFileSync(at(`bin/${name}`), `#!/bin/sh\nexec '${node}' '${file}' "$@"\n`, { mode: 0o755 })
  const shown = [ROOT, realpathSync(join(ROOT, 'node_modules')), dirname(node)]
  const words = [
    ...MACHINE.split(' '),
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['etc', 'var', 'trace'].flatMap((name) => ['--bind', at(name), `/${name}`]),
    // bwrap makes the folders above a mount for root alone.
    ...shown.flatMap(parentsOf).flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    '--ro-bind',
    at('bin'),
    '/usr/local/bin',
    '--chdir',
    join(ROOT, 'ops'),
  ]
  return {
    at,
    run: (script) => run('bwrap', [...words, 'bash', '-euc', script], { timeout: RUN_MS_MAX }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Folders above a path, from the outermost. */
function parentsOf(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === '/' ? [] : [...parentsOf(parent), parent]
}
