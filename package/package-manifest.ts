import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = join(import.meta.dirname, '..', 'package.json')
/** Where the clone's manifest is kept while the package is packed; never part of it. */
const KEPT = join(import.meta.dirname, '..', 'dist', 'package.clone.json')

/** What only a clone needs. npm would fetch the pinned runtimes, 100 MB, for whoever installs the package. */
const CLONE_ONLY = new Set(['private', 'scripts', 'devDependencies', 'optionalDependencies'])

/** Run by npm around the packing, with `publish` before it and `restore` after. */
if (process.argv[2] === 'publish') {
  copyFileSync(MANIFEST, KEPT)
  const fields = Object.entries(Object(JSON.parse(readFileSync(MANIFEST, 'utf8'))))
  const published = Object.fromEntries(fields.filter(([name]) => !CLONE_ONLY.has(name)))
  writeFileSync(MANIFEST, `${JSON.stringify(published, undefined, 2)}\n`)
} else {
  renameSync(KEPT, MANIFEST)
}
