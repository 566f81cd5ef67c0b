import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockedPackages } from '../release/preconditions.ts'
import { outputOf } from '../release/programs.ts'
import { type Architecture, ROOT } from './facts.ts'

/** The pinned Node of an architecture: its npm package in package-lock.json. */
export type Runtime = Readonly<{ name: string; version: string; integrity: string }>

/** The Node that package-lock.json pins for an architecture. */
export function lockedRuntime(architecture: Architecture): Runtime {
  const name = `node-linux-${architecture === 'amd64' ? 'x64' : architecture}`
  const { version, integrity } = lockedPackages(join(ROOT, 'package-lock.json'))[`node_modules/${name}`] ?? {}
  if (version === undefined || integrity === undefined) throw new Error(`package-lock.json has no ${name}`)
  return { name, version, integrity }
}

/** Adds Node to a root folder, byte for byte as its package has it, with its licence. */
export function addRuntime(root: string, scratch: string, architecture: Architecture): Runtime {
  const runtime = lockedRuntime(architecture)
  const from = installed(runtime) ?? unpacked(runtime, scratch)
  const [bin, licences] = [join(root, 'usr', 'local', 'bin'), join(root, 'usr', 'share', 'doc', 'node')]
  for (const folder of [bin, licences]) mkdirSync(folder, { recursive: true })
  copyFileSync(join(from, 'bin', 'node'), join(bin, 'node'))
  copyFileSync(join(from, 'LICENSE'), join(licences, 'copyright'))
  return runtime
}

/** Folder of the package that `npm ci` has checked and installed; undefined for the Node of another machine. */
function installed({ name, version }: Runtime): string | undefined {
  const folder = join(ROOT, 'node_modules', name)
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return undefined
  return JSON.parse(readFileSync(manifest, 'utf8')).version === version ? folder : undefined
}

/** Folder of the package, from npm's registry or cache. */
function unpacked({ name, version, integrity }: Runtime, scratch: string): string {
  mkdirSync(scratch, { recursive: true })
  const words = ['pack', `${name}@${version}`, '--prefer-offline', '--silent', '--pack-destination', scratch]
  const tarball = join(scratch, outputOf('npm', words, { cwd: ROOT }).trim())
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
  if (found !== integrity) throw new Error(`${name} ${version} is not the package of package-lock.json`)
  outputOf('tar', ['--extract', '--file', tarball, 'package/bin/node', 'package/LICENSE'], { cwd: scratch })
  return join(scratch, 'package')
}
