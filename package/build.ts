import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BUNDLED, bundleIslands } from '../src/web/assets/assets.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const WEB = join('src', 'web')
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')

/** Makes `dist` anew: what `src` and `sim` are in JavaScript, and the scripts and the style of the pages. */
rmSync(DIST, { recursive: true, force: true })
execFileSync(process.execPath, [TSC, '-p', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })
for (const path of globSync('{src,sim}/**/*.js', { cwd: DIST })) nameThreads(join(DIST, path))
await addPages()
writeManifest()

/** The compiler rewrites what is imported, but not the file that a thread begins with. */
function nameThreads(file: string): void {
  const text = readFileSync(file, 'utf8')
  const named = text.replaceAll(/(?<=import\.meta\.resolve\('\.\/[a-z-]+-thread)\.ts(?='\))/g, '.js')
  if (named !== text) writeFileSync(file, named)
}

/** Bundled here, since who installs the package has no bundler. */
async function addPages(): Promise<void> {
  const web = join(DIST, WEB)
  mkdirSync(join(web, BUNDLED), { recursive: true })
  for (const { name, body } of await bundleIslands(join(ROOT, WEB))) {
    writeFileSync(join(web, BUNDLED, name), body)
  }
  for (const path of globSync('**/*.css', { cwd: join(ROOT, 'src') })) {
    const to = join(DIST, 'src', path)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(join(ROOT, 'src', path), to)
  }
}

/** The compiler has put the clone's beside what imports it: of that only this is read. */
function writeManifest(): void {
  const file = join(DIST, 'package.json')
  const { name, version, type } = Object(JSON.parse(readFileSync(file, 'utf8')))
  writeFileSync(file, `${JSON.stringify({ name, version, type })}\n`)
}
