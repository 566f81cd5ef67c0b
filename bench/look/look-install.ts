import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../test/stage/places.ts'

const SOURCE = join(import.meta.dirname, 'lighthouse')
const FILES = ['package.json', 'package-lock.json'] as const
const FOLDER = join(ROOT, 'node_modules', '.cache', 'look')
const CLI = join(FOLDER, 'node_modules', 'lighthouse', 'cli', 'index.js')

/**
 * Path of Lighthouse's command. The first call installs the versions of `bench/look/lighthouse/package-lock.json` in
 * `node_modules/.cache`. Throws when npm fails, for example without a network.
 */
export async function installLighthouse(): Promise<string> {
  if (existsSync(CLI) && FILES.every(isCurrent)) return CLI
  process.stderr.write('installing Lighthouse once, 176 MB\n')
  mkdirSync(FOLDER, { recursive: true })
  for (const file of FILES) copyFileSync(join(SOURCE, file), join(FOLDER, file))
  // `npm run` describes its own project in variables, which would lead this npm there.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  const npm = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const child = spawn('npm', npm, { cwd: FOLDER, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`npm could not install Lighthouse in ${FOLDER}. Is there a network?`)
  return CLI
}

function isCurrent(file: string): boolean {
  const installed = join(FOLDER, file)
  return existsSync(installed) && readFileSync(installed).equals(readFileSync(join(SOURCE, file)))
}
