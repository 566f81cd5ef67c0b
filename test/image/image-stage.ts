import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Architecture } from '../../package/image/facts.ts'
import { buildImages, type BuiltImages } from '../../package/image/image.ts'
import { packProgram } from '../../package/image/program.ts'
import { outputOf } from '../../package/release/programs.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

/** User of the containers. No image has an entry for it. */
const FOREIGN_USER = 12_345
const RUN_MS_MAX = 60_000
/** A moment for files, in seconds since 1970. */
const SECONDS = 1_700_000_000
/** Parts of the clone that the package of the image is made of. */
const PACKED = [
  'src',
  'sim',
  'package',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'LICENSE',
  'README.md',
]

export type Image = AsyncDisposable &
  Readonly<{
    built: BuiltImages
    /** Folder of the unpacked image, with its root folder `root`. */
    folder: string
    root: string
    /** Makes a volume that the foreign user owns, empty or with a copy of some paths of this machine. */
    makeVolume(name: string, copied?: Readonly<Record<string, string>>): Promise<string>
    /** Runs the image's entry point, or `program`, with a volume. */
    run(volume: string, words: readonly string[], own?: Own): Running
  }>

type Own = Readonly<{ program?: string; environment?: readonly string[] }>

/** A command in the image. */
type Running = Readonly<{
  ended: Promise<Readonly<{ code: number | null; stdout: string; stderr: string }>>
  /** Sends the stop signal to the first process in the image. */
  stop(): void
}>

/** Shell blocks of docs/container.md that run the image without Docker: the one that unpacks it, and the one that runs it. */
export function documentedBlocks(): readonly [unpack: string, run: string] {
  const blocks = blocksOf(textOf('docs/container.md')).filter(
    ({ before }) => before === '<!-- run: image -->',
  )
  const [unpack, run] = blocks.map(({ text }) => text)
  if (unpack === undefined || run === undefined) throw new Error('docs/container.md has too few blocks')
  return [unpack, run]
}

/**
 * Builds the image for some architectures. The lowest level of gzip takes half the time, and makes larger layers than those of
 * a release.
 */
export async function buildImage(
  architectures: readonly Architecture[],
  folder: string,
): Promise<BuiltImages> {
  const clone = join(folder, 'clone')
  for (const path of PACKED) await cp(join(ROOT, path), join(clone, path), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const tarball = packProgram(clone, join(folder, 'packed'))
  await rm(clone, { recursive: true })
  const settings = {
    to: folder,
    architectures,
    tarball,
    level: 1,
    revision: 'a-commit',
    seconds: SECONDS,
  }
  // Debian offers only its newest versions, so a lock file that is too old does not stop the tests.
  return buildImages({ ...settings, libraries: 'locked' }).catch(() =>
    buildImages({ ...settings, libraries: 'newest' }),
  )
}

/** Builds the image for amd64, and unpacks it as docs/container.md says. */
export async function openImage(): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-image-test-'))
  const built = await buildImage(['amd64'], folder)
  const [unpack, block] = documentedBlocks()
  outputOf('bash', ['-euc', unpack], { cwd: folder })
  // Another user enters it.
  await chmod(folder, 0o755)
  const words = block.replaceAll('\\\n', ' ').trim().split(/\s+/)
  return {
    built,
    folder,
    root: join(folder, 'root'),
    async makeVolume(name, copied = {}) {
      const volume = join(folder, name)
      await mkdir(volume)
      for (const [to, from] of Object.entries(copied)) await cp(from, join(volume, to), { recursive: true })
      if (process.getuid?.() === 0) {
        for (const path of ['', ...(await readdir(volume, { recursive: true }))])
          await chown(join(volume, path), FOREIGN_USER, FOREIGN_USER)
      }
      return volume
    },
    run: (volume, ...rest) => start(words, folder, volume, ...rest),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Starts the documented command as a foreign user, with another volume, environment and words. */
function start(
  documented: readonly string[],
  folder: string,
  volume: string,
  words: readonly string[],
  { program, environment = [] }: Own = {},
): Running {
  const at = documented.indexOf('/usr/local/bin/daybook')
  const around = documented.slice(0, at).map((word) => (word === 'data' ? volume : word))
  const set = environment.flatMap((one) => ['--setenv', ...one.split('=')])
  const user = String(FOREIGN_USER)
  const foreign =
    process.getuid?.() === 0
      ? ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', ...around]
      : [...around, '--unshare-user', '--uid', user, '--gid', user]
  const [command = '', ...rest] = [...foreign, ...set, program ?? documented[at] ?? '', ...words]
  const child = spawn(command, rest, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    ended: once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr })),
    stop() {
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      process.kill(Number(children.trim()), 'SIGTERM')
    },
  }
}
