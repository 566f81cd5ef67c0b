import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, statSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from './places.ts'

/** Parts of the clone that the package is made of. */
const PACKED = [
  'src',
  'sim',
  'package',
  'docs',
  'ops',
  'compose.yaml',
  'package.json',
  'package-lock.json',
  '.gitignore',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.portable.json',
  'LICENSE',
]
const RUN_MS_MAX = 90_000
const RELEASE_MS_MAX = 600_000

export type RunResult = Readonly<{ code: number | null; stdout: string; stderr: string }>

/** A packed package: path of the tarball, its bytes, and the paths of its files. */
type Tarball = Readonly<{ path: string; bytes: number; files: readonly string[] }>

/** A release that is built from a copy of the clone. */
export type Packed = AsyncDisposable &
  Readonly<{
    whole: Tarball
    client: Tarball
    /** Folder of the copy, which is a repository with one commit. */
    clone: string
    /** Folder of the files of the release. */
    released: string
    version: string
    /** Runs `npm run release --` in the copy. */
    release(...words: readonly string[]): Promise<RunResult>
  }>

/** An empty project with a package installed from its tarball. */
export type Project = AsyncDisposable &
  Readonly<{
    folder: string
    run(program: string, ...words: readonly string[]): Promise<RunResult>
    /** Starts the installed `daybook` and waits until it listens. `end` stops it and returns its exit code. */
    listen(...words: readonly string[]): Promise<Readonly<{ url: string; end(): Promise<number | null> }>>
  }>

/** The environment in which npm and npx find the Node of this test first. */
function environment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:DAYBOOK_|npm_)/i.test(name))
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`
  return { ...Object.fromEntries(own), PATH: path }
}

async function run(
  cwd: string,
  program: string,
  words: readonly string[],
  timeout: number = RUN_MS_MAX,
): Promise<RunResult> {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  const child = spawn(program, words, { cwd, env: environment(), stdio, timeout })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}

async function runToSuccess(cwd: string, program: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(cwd, program, words)
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}

/** Builds a release from a copy of the clone in a repository of its own. */
export async function packClone(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-package-'))
  const clone = join(folder, 'clone')
  for (const path of [...PACKED, ...globSync('*.md', { cwd: ROOT })])
    await cp(join(ROOT, path), join(clone, path), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const release = (...words: readonly string[]): Promise<RunResult> =>
    run(clone, 'npm', ['run', '-s', 'release', '--', ...words], RELEASE_MS_MAX)
  await runToSuccess(clone, 'git', 'init', '--quiet')
  await writeFile(join(clone, '.git', 'info', 'exclude'), 'node_modules\n.npmrc\n')
  const author = ['-c', 'user.name=Daybook', '-c', 'user.email=daybook@example.org']
  await runToSuccess(clone, 'git', 'add', '--all')
  await runToSuccess(clone, 'git', ...author, 'commit', '--quiet', '--message', 'Copy the clone')
  const { stdout, stderr, code } = await release()
  assert.equal(code, 0, stdout + stderr)

  const { version } = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')) as { version: string }
  const released = join(clone, 'dist-release', version)
  const tarball = (name: string): Tarball => {
    const path = join(released, `${name}-${version}.tgz`)
    const listed = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' })
    return {
      path,
      bytes: statSync(path).size,
      files: [...listed.matchAll(/^package\/(.+)$/gm)].map(([, file = '']) => file),
    }
  }
  return {
    whole: tarball('daybook'),
    client: tarball('daybook-client'),
    clone,
    released,
    version,
    release,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Installs a tarball into an empty project. */
export async function openProject({ path }: Tarball): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-project-'))
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await runToSuccess(folder, 'npm', 'install', ...quiet, path)
  return {
    folder,
    run: (program, ...words) => run(folder, program, words),
    listen: (...words) => listen(folder, words),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

async function listen(
  cwd: string,
  words: readonly string[],
): Promise<Readonly<{ url: string; end(): Promise<number | null> }>> {
  const every = [...words, '--port', '0', '--publish-port', '0', '--drain', '0']
  // Not through npx: a signal would end only npx.
  const bin = join(cwd, 'node_modules', '.bin', 'daybook')
  const child = spawn(bin, every, { cwd, env: environment(), stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(child, 'close')
  const late = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX)
  let output = ''
  for await (const line of createInterface({ input: child.stderr })) {
    output += `${line}\n`
    const url = /listening on (http:\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    clearTimeout(late)
    // Drains stderr, so that a full pipe never blocks the process.
    child.stderr.resume()
    return {
      url,
      async end() {
        child.kill('SIGTERM')
        await closed
        return child.exitCode
      },
    }
  }
  throw new Error(`daybook did not start:\n${output}`)
}
