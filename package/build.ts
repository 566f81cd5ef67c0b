import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BUNDLED, bundleIslands } from '../src/web/assets/assets.ts'
import { writeClientPackage } from './client-package.ts'
import { reachedFiles } from './reached-files.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const WEB = join('src', 'web')
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')

/** Builds `dist`: JavaScript of `src` and `sim`, scripts and style sheets of the pages, the package of the client. */
rmSync(DIST, { recursive: true, force: true })
execFileSync(process.execPath, [TSC, '-p', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })
for (const path of globSync('{src,sim}/**/*.js', { cwd: DIST })) nameThreads(join(DIST, path))
await addPages()
writeManifest()
writeClientPackage(ROOT, DIST)
removeUnreached()

/** Rewrites the names of modules that another thread loads from `.ts` to `.js`. The compiler rewrites imports only. */
function nameThreads(file: string): void {
  const text = readFileSync(file, 'utf8')
  const named = text.replaceAll(/(?<=import\.meta\.resolve\('\.{1,2}\/[a-z/-]+)\.ts(?='\))/g, '.js')
  if (named !== text) writeFileSync(file, named)
}

/** Adds the bundled scripts, the style sheets, and the scripts of `conform`. An installed package has no bundler. */
async function addPages(): Promise<void> {
  const web = join(DIST, WEB)
  mkdirSync(join(web, BUNDLED), { recursive: true })
  for (const { name, body } of await bundleIslands(join(ROOT, WEB))) {
    writeFileSync(join(web, BUNDLED, name), body)
  }
  // The fonts have their licence beside them.
  for (const path of globSync(['**/*.css', 'web/fonts/*', 'conform/scripts/*'], { cwd: join(ROOT, 'src') })) {
    const to = join(DIST, 'src', path)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(join(ROOT, 'src', path), to)
  }
}

/** Removes modules that only name types, and the types that no entry of the package shows. */
function removeUnreached(): void {
  const files = globSync('{src,sim}/**/*.{js,d.ts}', { cwd: DIST })
  const shown = files.filter((path) =>
    /^src\/(?:client\/(?:index|event-sums|tabs)|verify\/[^/]+)\./.test(path),
  )
  const bundled = files.filter((path) => path.startsWith(join(WEB, BUNDLED)))
  const kept = new Set([...bundled, ...reachedFiles(DIST, ['src/main.js', ...shown])])
  for (const path of files) if (!kept.has(path)) rmSync(join(DIST, path))
}

/** Reduces the manifest that the compiler copied to the fields that the program imports. */
function writeManifest(): void {
  const file = join(DIST, 'package.json')
  const { name, version, type } = Object(JSON.parse(readFileSync(file, 'utf8')))
  writeFileSync(file, `${JSON.stringify({ name, version, type })}\n`)
}
