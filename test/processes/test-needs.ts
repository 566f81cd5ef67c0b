import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

/** Debian package of each program that tests need. */
const PROGRAMS = {
  awk: 'mawk',
  base64: 'coreutils',
  buildah: 'buildah',
  bwrap: 'bubblewrap',
  caddy: 'caddy',
  cc: 'gcc',
  chromium: 'chromium',
  curl: 'curl',
  'docker-compose': 'docker-compose',
  fallocate: 'util-linux',
  git: 'git',
  gunzip: 'gzip',
  gzip: 'gzip',
  mmdebstrap: 'mmdebstrap',
  nginx: 'nginx',
  openssl: 'openssl',
  pgbouncer: 'pgbouncer',
  prlimit: 'util-linux',
  promtool: 'prometheus',
  python3: 'python3',
  runuser: 'util-linux',
  script: 'bsdutils',
  setpriv: 'util-linux',
  sha256sum: 'coreutils',
  'ssh-agent': 'openssh-client',
  strace: 'strace',
  'systemd-analyze': 'systemd',
  timeout: 'coreutils',
} as const

/** Program that some test needs. */
type NeededProgram = keyof typeof PROGRAMS

/** The system's Python. Another one has no packages of the system. */
export const PYTHON = '/usr/bin/python3'
/** Folders of the installed versions of PostgreSQL; its programs are not in PATH. */
export const POSTGRES_PROGRAMS = '/usr/lib/postgresql/*/bin'
/** Files of which each comes with a package. */
const FILES = {
  '/usr/lib/python3/dist-packages/yaml': 'python3-yaml',
  '/usr/include/stdio.h': 'libc6-dev',
  [`${POSTGRES_PROGRAMS}/initdb`]: 'postgresql',
} as const

/** Path of a program, also of one that only administrators have in their PATH. */
export function pathOf(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

/** Programs that an older Debian lacks. `.ci/newer-packages` unpacks them in this folder, beside what npm installs. */
const NEWER = join(import.meta.dirname, '../../node_modules/.cache/newer')
/** Command of DuckDB 2 that reads URLs. */
export const DUCKDB: string = join(NEWER, 'bin/duckdb')
/** Command of a Python that has pandas with pyarrow. */
export const PANDAS: string = join(NEWER, 'bin/python3')

/** Path of litewitness, which Debian's torchwood brings. */
export function litewitnessPath(): string | undefined {
  return [join(NEWER, 'usr/bin/litewitness')].find((path) => existsSync(path)) ?? pathOf('litewitness')
}

/**
 * Skip option of a test that needs something of the machine: what is missing, or false. On CI nothing is skipped,
 * so that a test without what it needs fails there.
 */
export function skipUnless(isThere: boolean, needed: string): string | false {
  return isThere || process.env['CI'] === 'true' ? false : `this machine lacks ${needed}`
}

/** Skip option of a test that needs programs. */
export function skipWithout(...programs: readonly NeededProgram[]): string | false {
  const missing = programs.filter((program) => pathOf(program) === undefined)
  return skipUnless(missing.length === 0, missing.join(', '))
}

/** Whether this machine has what `.ci/newer-packages` unpacks. */
export function hasNewer(): boolean {
  return [DUCKDB, PANDAS, litewitnessPath()].every((path) => path !== undefined && existsSync(path))
}

/** Debian packages that this machine lacks for `npm run test:all`, each with what it brings. */
export function missingPackages(): ReadonlyMap<string, readonly string[]> {
  const lacks = [
    ...Object.entries(PROGRAMS).filter(([program]) => pathOf(program) === undefined),
    ...Object.entries(FILES).filter(([glob]) => globSync(glob).length === 0),
  ]
  const byPackage = Map.groupBy(lacks, ([, name]) => name)
  return new Map([...byPackage].map(([name, rows]) => [name, rows.map(([program]) => program)]))
}

// `.ci/run` installs what this prints.
if (import.meta.main) for (const name of missingPackages().keys()) process.stdout.write(`${name}\n`)
