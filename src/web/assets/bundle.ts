import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Script } from './bundle-cache.ts'

/**
 * Options of the Node that runs the bundler. It runs for a second: optimising its WebAssembly takes five times as long as
 * bundling with plain code. It sends its exit code and is killed, because the end of such a Node sometimes hangs.
 */
const NODE_OPTIONS = [
  '--liftoff-only',
  '--import',
  'data:text/javascript,process.exit = (code) => process.send(process.exitCode = code)',
]

/**
 * Bundles files `island-NAME.ts` below the folder, each to the script `NAME.js`. Only a clone has the bundler. It runs as a
 * process of its own, because it needs 120 MiB.
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
