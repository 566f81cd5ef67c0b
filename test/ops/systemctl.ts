import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/**
 * Stand-in for `systemctl` in a machine of test/ops/machine.ts, where no systemd runs. It starts a unit as its user,
 * with the limits that the unit asks for: read-only files, no capabilities, a /tmp and a /proc of its own, no network.
 * It writes each system call that the unit does not allow, and each new socket, to /trace/UNIT.
 */
const UNITS = '/etc/systemd/system'
const STOP_MS_MAX = 30_000
const POLL_MS = 20

type Unit = ReadonlyMap<string, readonly string[]>

const [action = '', ...rest] = process.argv.slice(2)
const [name = ''] = rest.filter((word) => !word.startsWith('--'))
const file = name.includes('.') ? name : `${name}.service`
const pidFile = `/run/${file}.pid`
const codeFile = `/run/${file}.code`

switch (action) {
  case 'daemon-reload':
    break
  case 'reload':
    if (name !== 'nginx') throw new Error(`${name} cannot be reloaded`)
    execFileSync('nginx', ['-s', 'reload'])
    break
  case 'enable':
  case 'start': {
    const unit = unitOf(file)
    if (!file.endsWith('.timer')) start(unit)
    break
  }
  case 'stop':
    await stop()
    break
  default:
    throw new Error(`systemctl ${action} is not here`)
}

function unitOf(path: string): Unit {
  const lines = [...readFileSync(join(UNITS, path), 'utf8').matchAll(/^([A-Z]\w+)=(.*)$/gm)]
  const named = Map.groupBy(lines, ([, directive = '']) => directive)
  return new Map([...named].map(([directive, found]) => [directive, found.map(([, , value = '']) => value)]))
}

/** Last value of a directive. Throws without one. */
function only(unit: Unit, directive: string): string {
  const value = unit.get(directive)?.at(-1)
  if (value === undefined) throw new Error(`${file} has no ${directive}`)
  return value
}

function start(unit: Unit): void {
  const words = [...sandboxOf(unit), 'sh', '-c', commandOf(unit)]
  const log = openSync(`/var/log/${file}.log`, 'a')
  const stdio: ['ignore', number, number] = ['ignore', log, log]
  if (only(unit, 'Type') === 'oneshot') {
    process.exitCode = spawnSync('bwrap', words, { stdio }).status ?? 1
    return
  }
  const child = spawn('sh', ['-c', `bwrap "$@"; echo $? > ${codeFile}`, 'sh', ...words], {
    stdio,
    detached: true,
  })
  writeFileSync(pidFile, `${child.pid}`)
  child.unref()
}

/** Options of bwrap for the file system and the network that a unit leaves to its program. */
function sandboxOf(unit: Unit): readonly string[] {
  for (const directive of [
    'ProtectHome',
    'PrivateTmp',
    'PrivateDevices',
    'NoNewPrivileges',
    'RestrictNamespaces',
  ])
    if (only(unit, directive) !== 'yes') throw new Error(`${file} has no ${directive}=yes`)
  if (only(unit, 'ProtectSystem') !== 'strict') throw new Error(`${file} has no ProtectSystem=strict`)
  const folders = only(unit, 'StateDirectory')
    .split(' ')
    .map((path) => join('/var/lib', path))
  const [user, mode] = [only(unit, 'User'), only(unit, 'StateDirectoryMode')]
  for (const folder of folders) execFileSync('install', ['-d', '-o', user, '-g', user, '-m', mode, folder])
  return [
    ...'--cap-add ALL --ro-bind / / --dev /dev --tmpfs /tmp --bind /trace /trace --chdir / --clearenv'.split(
      ' ',
    ),
    ...folders.flatMap((folder) => ['--bind', folder, folder]),
    ...environmentOf(unit),
    ...(unit.get('PrivateNetwork')?.at(-1) === 'yes' ? ['--unshare-net'] : []),
  ]
}

function environmentOf(unit: Unit): readonly string[] {
  const files = (unit.get('EnvironmentFile') ?? []).map((path) => readFileSync(path, 'utf8'))
  const lines = [...(unit.get('Environment') ?? []), ...files.flatMap((text) => text.split('\n'))]
  const set = lines.filter((line) => /^\w+=/.test(line))
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin'
  return [path, ...set].flatMap((line) => [
    '--setenv',
    line.split('=')[0] ?? '',
    line.slice(line.indexOf('=') + 1),
  ])
}

/** Command that starts the program of a unit, as its user and under strace. */
function commandOf(unit: Unit): string {
  if (only(unit, 'CapabilityBoundingSet') !== '') throw new Error(`${file} keeps capabilities`)
  const user = only(unit, 'User')
  const proc = 'mount -t proc -o subset=pid,hidepid=invisible proc /proc'
  const own = `setpriv --reuid=${user} --regid=${user} --init-groups --inh-caps=-all --bounding-set=-all --no-new-privs`
  // With -D, the process is the program, and strace its child.
  const watched = [...allowedCalls(unit)].filter((call) => call !== 'socket').map((call) => `?${call}`)
  const strace = `strace -D -f --seccomp-bpf -qq -o /trace/${file} -e 'trace=!${watched.join(',')}'`
  const limit = unit.has('LimitNOFILE') ? `ulimit -n ${only(unit, 'LimitNOFILE')} &&` : ''
  const program = only(unit, 'ExecStart').replaceAll('%%', '%')
  return `${proc} && umask ${only(unit, 'UMask')} && ${limit} exec ${own} ${strace} ${program}`
}

/** System calls that `SystemCallFilter` of a unit allows. */
function allowedCalls(unit: Unit): ReadonlySet<string> {
  const told = execFileSync('systemd-analyze', ['--no-pager', 'syscall-filter'], { encoding: 'utf8' })
  const sets = new Map<string, readonly string[]>()
  for (const part of told.split(/^(?=@)/m)) {
    const lines = part.split('\n').map((line) => line.trim())
    sets.set(
      lines[0] ?? '',
      lines.slice(1).filter((line) => /^@?[\w-]+$/.test(line)),
    )
  }
  const expanded = (call: string): readonly string[] =>
    call.startsWith('@') ? (sets.get(call) ?? []).flatMap(expanded) : [call]
  let calls = new Set<string>()
  for (const filter of unit.get('SystemCallFilter') ?? []) {
    const named = new Set(filter.replace('~', '').split(' ').flatMap(expanded))
    calls = filter.startsWith('~') ? calls.difference(named) : calls.union(named)
  }
  return calls
}

/** Stops the program of a unit, and ends with its exit code. */
async function stop(): Promise<void> {
  const childOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  const shell = Number(readFileSync(pidFile, 'utf8'))
  // The program is the child of bwrap, which is the child of the shell.
  process.kill(childOf(childOf(shell)), 'SIGTERM')
  const late = Date.now() + STOP_MS_MAX
  while (!existsSync(codeFile)) {
    if (Date.now() > late) throw new Error(`${file} does not stop`)
    await setTimeout(POLL_MS)
  }
  process.exitCode = Number(readFileSync(codeFile, 'utf8'))
}
