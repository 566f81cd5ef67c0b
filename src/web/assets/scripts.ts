import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'

/** A script's plain name and its bytes. */
export type Script = Readonly<{ name: string; body: Uint8Array }>

/** Folder of the cache, below the root of a clone. */
const CACHE = join('node_modules', '.cache', 'daybook-islands')
const KEY_CHARS = 32

/**
 * Reads the bundled scripts from the cache if no source and no package has changed. Otherwise bundles them and stores
 * them for the next process. Bundling takes seconds of CPU time.
 */
export async function cachedScripts(
  root: string,
  make: () => Promise<readonly Script[]>,
): Promise<readonly Script[]> {
  const key = keyOf(root)
  const file = key === undefined ? undefined : join(root, CACHE, `${key}.json`)
  const found = file === undefined ? undefined : readScripts(file)
  if (found !== undefined) return found
  const made = await make()
  // A source that changed while bundling may be in the scripts.
  if (file !== undefined && keyOf(root) === key) storeScripts(file, made)
  return made
}

/** Hash of the sources below `src`, `tsconfig.json` and the locked packages; undefined if one cannot be read. */
function keyOf(root: string): string | undefined {
  const hash = createHash('sha256')
  try {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    const names = ['package-lock.json', 'tsconfig.json', ...sources.map((name) => join('src', name))]
    for (const name of names.filter(isSource).toSorted()) {
      const body = readFileSync(join(root, name))
      hash.update(`${name} ${body.length}\n`).update(body)
    }
  } catch {
    return undefined
  }
  return hash.digest('hex').slice(0, KEY_CHARS)
}

/** Whether a script may depend on a file. No script imports a test. */
function isSource(name: string): boolean {
  return /\.(?:ts|json)$/.test(name) && !name.endsWith('.test.ts')
}

/** Scripts by name, in base64. */
type StoredScripts = Readonly<Record<string, string>>

/**
 * Reads the stored scripts. One file has all of them, so that a reader sees all or none while another process removes
 * them.
 */
function readScripts(file: string): readonly Script[] | undefined {
  try {
    const stored: StoredScripts = JSON.parse(readFileSync(file, 'utf8'))
    return Object.entries(stored).map(([name, body]) => ({ name, body: Buffer.from(body, 'base64') }))
  } catch {
    return undefined
  }
}

/** Stores the scripts and removes older files. Ignores disk errors, after which the next process bundles again. */
function storeScripts(file: string, scripts: readonly Script[]): void {
  const folder = dirname(file)
  const growing = `${file}.${randomUUID()}`
  const stored: StoredScripts = Object.fromEntries(
    scripts.map(({ name, body }) => [name, Buffer.from(body).toString('base64')]),
  )
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(growing, JSON.stringify(stored))
    renameSync(growing, file)
    // Files of earlier sources are never read again.
    for (const name of readdirSync(folder)) {
      if (!file.endsWith(name)) rmSync(join(folder, name), { recursive: true, force: true })
    }
  } catch {
    rmSync(growing, { recursive: true, force: true })
  }
}

/**
 * Options of the Node that runs the bundler. It runs for a second, and optimising its WebAssembly takes five times as
 * long as bundling with plain code. It sends its exit code and is killed, because such a Node sometimes hangs at its
 * end.
 */
const NODE_OPTIONS = [
  '--liftoff-only',
  '--import',
  'data:text/javascript,process.exit = (code) => process.send(process.exitCode = code)',
]

/**
 * Bundles the files `island-NAME.ts` below the folder, each to a script `NAME.js`. Only a clone has the bundler. The
 * bundler runs in its own process, because it needs 120 MiB.
 */
export async function bundle(folder: string, entries: readonly string[]): Promise<readonly Script[]> {
  const bundler = createRequire(import.meta.url).resolve('esbuild-wasm/bin/esbuild')
  const made = mkdtempSync(join(tmpdir(), 'daybook-bundle-'))
  try {
    const options = ['--bundle', '--minify', '--format=iife', `--outdir=${made}`, '--entry-names=[name]']
    const child = fork(
      bundler,
      [
        ...entries,
        ...options,
        '--platform=browser',
        '--target=es2022',
        '--legal-comments=none',
        '--log-level=error',
      ],
      { cwd: folder, execArgv: NODE_OPTIONS, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    )
    const faults = child.stderr === null ? '' : text(child.stderr)
    const [code] = await Promise.race([once(child, 'message'), once(child, 'exit')])
    child.kill('SIGKILL')
    if (code !== 0) throw new Error(`the bundler failed: ${await faults}`)
    return readdirSync(made).map((name) => ({
      name: name.replace(/^island-/, ''),
      body: readFileSync(join(made, name)),
    }))
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
