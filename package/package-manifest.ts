import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = join(import.meta.dirname, '..', 'package.json')
/** Copy of the clone's manifest while the package is packed. It is not part of the package. */
const KEPT = join(import.meta.dirname, '..', 'dist', 'package.clone.json')

/** Fields that only a clone needs. With them, installing the package would download the pinned runtimes (100 MB). */
const CLONE_ONLY = new Set(['private', 'scripts', 'devDependencies', 'optionalDependencies'])

/** npm runs this file before packing with `publish`, and after it with `restore`. */
if (process.argv[2] === 'publish') {
  copyFileSync(MANIFEST, KEPT)
  const fields = Object.entries(Object(JSON.parse(readFileSync(MANIFEST, 'utf8'))))
  const published = Object.fromEntries(fields.filter(([name]) => !CLONE_ONLY.has(name)))
  writeFileSync(MANIFEST, `${JSON.stringify(published, undefined, 2)}\n`)
} else {
  renameSync(KEPT, MANIFEST)
}
