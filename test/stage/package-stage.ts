import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from './places.ts'

/** What the package is made of: the clone without its tests. */
const PACKED = ['src', 'sim', 'package', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
const TOLD = ['README.md', 'CHANGELOG.md', 'LICENSE']
const RUN_MS_MAX = 90_000

export type Ran = Readonly<{ code: number | null; stdout: string; stderr: string }>

/** An empty project into which the package was installed from its tarball. */
export type Project = AsyncDisposable &
  Readonly<{
    folder: string
    /** The files of the tarball, as npm lists them. */
    files: readonly string[]
    /** The clone's manifest as it is after packing. */
    manifest: string
    run(program: string, ...words: readonly string[]): Promise<Ran>
    /** Runs the installed `daybook` until it says where it listens; `end` stops it and gives its code. */
    listen(...words: readonly string[]): Promise<Readonly<{ url: string; end(): Promise<number | null> }>>
  }>

/** The node of this test is the one that npm and npx find first. */
function environment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:DAYBOOK_|npm_)/i.test(name))
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`
  return { ...Object.fromEntries(own), PATH: path }
}

async function run(cwd: string, program: string, words: readonly string[]): Promise<Ran> {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  const child = spawn(program, words, { cwd, env: environment(), stdio, timeout: RUN_MS_MAX })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}

async function done(cwd: string, program: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(cwd, program, words)
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}

/** Packs a copy of the clone, so that nothing of the clone is written to, and installs the tarball. */
export async function openProject(): Promise<Project> {
  const whole = await mkdtemp(join(tmpdir(), 'daybook-package-'))
  const [clone, folder] = [join(whole, 'clone'), join(whole, 'project')]
  for (const path of [...PACKED, ...TOLD]) await cp(join(ROOT, path), join(clone, path), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const packed = await done(clone, 'npm', 'pack', '--json', '--silent', '--pack-destination', whole)
  const manifest = await done(clone, 'cat', 'package.json')
  const [tarball] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }]
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await done(folder, 'npm', 'install', ...quiet, join(whole, tarball.filename))
  return {
    folder,
    files: tarball.files.map(({ path }) => path),
    manifest,
    run: (program, ...words) => run(folder, program, words),
    listen: (...words) => listen(folder, words),
    [Symbol.asyncDispose]: () => rm(whole, { recursive: true, force: true }),
  }
}

async function listen(
  cwd: string,
  words: readonly string[],
): Promise<Readonly<{ url: string; end(): Promise<number | null> }>> {
  const every = [...words, '--port', '0', '--publish-port', '0', '--drain', '0']
  // Without npx before it, which a signal ends alone.
  const bin = join(cwd, 'node_modules', '.bin', 'daybook')
  const child = spawn(bin, every, { cwd, env: environment(), stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(child, 'close')
  const late = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX)
  let said = ''
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`
    const url = /^listening on (http:\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    // What it says from now on is let go of, so that it never waits for a reader.
    child.stderr.resume()
    return {
      url,
      async end() {
        child.kill('SIGTERM')
        await closed
        clearTimeout(late)
        return child.exitCode
      },
    }
  }
  throw new Error(`it did not start:\n${said}`)
}
