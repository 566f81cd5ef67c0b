import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reachedFiles } from './reached-files.ts'

/** Entries of the package: import name, and module below `dist/src`. */
const ENTRIES: Readonly<Record<string, string>> = {
  '.': 'client/index',
  './sums': 'client/event-sums',
  './tabs': 'client/tabs',
}

/** Oldest Node with `AbortSignal.any`, which the client uses. */
const NODE_MIN = '20.3'

/** Writes the package `daybook-client` below `dist`: the built modules that its entries reach, with their types. */
export function writeClientPackage(root: string, dist: string): void {
  const to = join(dist, 'daybook-client')
  const entries = Object.values(ENTRIES).flatMap((path) => [`${path}.js`, `${path}.d.ts`])
  for (const path of reachedFiles(join(dist, 'src'), entries)) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    copyFileSync(join(dist, 'src', path), join(to, path))
  }
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifestOf(root), undefined, 2)}\n`)
  for (const path of globSync('*', { cwd: join(root, 'package', 'client') })) {
    copyFileSync(join(root, 'package', 'client', path), join(to, path))
  }
  copyFileSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
}

function manifestOf(root: string): object {
  const { version, license } = Object(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const entries = Object.entries(ENTRIES).map(([name, path]) => [
    name,
    { types: `./${path}.d.ts`, default: `./${path}.js` },
  ])
  return {
    name: 'daybook-client',
    version,
    description:
      'Typed client of a Daybook: figures, events, month files and the live stream, without dependencies',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: `>=${NODE_MIN}` },
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
  }
}
