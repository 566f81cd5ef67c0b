import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { productionPackages } from '../release/bill-of-materials.ts'
import { packFolder } from '../release/packages.ts'
import { outputOf } from '../release/programs.ts'
import { PROGRAM_FOLDER, ROOT } from './facts.ts'

const LOCKFILE = join(ROOT, 'package-lock.json')

/** Files of packages that a running service never reads: types, sources, maps, tests and documents. */
const NEVER_READ = /\.(?:[cm]?ts|tsx|map|md|markdown|flow|tsbuildinfo|test\.[cm]?js)$|^\.(?!$)/i
const NEVER_READ_FOLDERS = new Set([
  'test',
  'tests',
  'benchmarks',
  'benchmark',
  'examples',
  'docs',
  '.github',
])

/** Files of Daybook's npm package that the image does not need: types, documents and examples. */
const LEFT_OUT = ['*.d.ts', '*.md', 'package/docs', 'package/ops', 'package/compose.yaml']

/** A licence is kept under whatever name. */
const LICENCE = /^(?:licen[cs]e|copying|notice)/i

/** An npm package of the image. */
type Dependency = Readonly<{ name: string; version: string; license: string; integrity: string }>

/** Packages that the service needs, from package-lock.json. */
export function lockedDependencies(): readonly Dependency[] {
  return Object.entries(productionPackages(LOCKFILE)).map(([path, { version, license, integrity }]) => ({
    name: path.slice('node_modules/'.length),
    version: version ?? '',
    license: license ?? 'NOASSERTION',
    integrity: integrity ?? '',
  }))
}

/**
 * Adds Daybook to a root folder: the files of its npm package, its dependencies as `npm ci` has installed them, and the
 * commands `daybook` and `daybook-ready`.
 */
export function addProgram(root: string, tarball: string): void {
  const to = join(root, PROGRAM_FOLDER)
  mkdirSync(to, { recursive: true })
  const files = ['--strip-components=1', ...LEFT_OUT.map((pattern) => `--exclude=${pattern}`)]
  outputOf('tar', ['--extract', '--file', tarball, '--directory', to, ...files], { cwd: to })
  for (const path of Object.keys(productionPackages(LOCKFILE))) {
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: isRead })
  }
  const bin = join(root, 'usr', 'local', 'bin')
  mkdirSync(bin, { recursive: true })
  const command = `#!/usr/local/bin/node\nrequire('/${PROGRAM_FOLDER}/package/start.cjs')\n`
  writeFileSync(join(bin, 'daybook'), command, { mode: 0o755 })
  const ready = readFileSync(join(import.meta.dirname, 'daybook-ready.cjs'))
  writeFileSync(join(bin, 'daybook-ready'), ready, { mode: 0o755 })
}

/** Packs the npm package of a clone, and returns the path of the tarball. */
export function packProgram(clone: string, to: string): string {
  mkdirSync(to, { recursive: true })
  return join(to, packFolder(clone, '.', to).file)
}

function isRead(path: string): boolean {
  const name = basename(path)
  return LICENCE.test(name) || !(NEVER_READ.test(name) || NEVER_READ_FOLDERS.has(name))
}
