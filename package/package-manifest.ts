import { copyFileSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withoutDeadLinks } from './packed-documents.ts'

const ROOT = join(import.meta.dirname, '..')
/** Originals of the changed files of the clone while the package is packed. They are not part of the package. */
const KEPT = join(ROOT, 'dist', 'clone')

/** Fields that only a clone needs. With them, installing the package would download the pinned runtimes (100 MB). */
const CLONE_ONLY = new Set(['private', 'scripts', 'devDependencies', 'optionalDependencies'])

/**
 * npm runs this file before packing with `publish`, and after it with `restore`. The package has a manifest and a README
 * of its own, and its documents link to nothing that only a clone has.
 */
if (process.argv[2] === 'publish') {
  const manifest = Object(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  const fields = Object.entries(manifest).filter(([name]) => !CLONE_ONLY.has(name))
  replace('package.json', `${JSON.stringify(Object.fromEntries(fields), undefined, 2)}\n`)
  replace('README.md', readFileSync(join(import.meta.dirname, 'whole', 'README.md'), 'utf8'))
  const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
  for (const { path, text } of withoutDeadLinks(ROOT, documents, manifest.files)) replace(path, text)
} else {
  for (const path of globSync('**/*.{json,md}', { cwd: KEPT })) renameSync(join(KEPT, path), join(ROOT, path))
  rmSync(KEPT, { recursive: true })
}

function replace(path: string, text: string): void {
  mkdirSync(dirname(join(KEPT, path)), { recursive: true })
  copyFileSync(join(ROOT, path), join(KEPT, path))
  writeFileSync(join(ROOT, path), text)
}
