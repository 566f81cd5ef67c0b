import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Architecture, USER_ID, versionOf, VOLUME } from './facts.ts'
import { addLibraries, librariesLock, type LibraryChoice } from './libraries.ts'
import { addProgram, lockedDependencies } from './program.ts'
import { addRuntime, type Runtime } from './runtime.ts'

/** Folders that become layers, lowest first. */
export const LAYERS = ['libraries', 'runtime', 'program'] as const

type LayerName = (typeof LAYERS)[number]

/** Sources of an image. */
export type Sources = Readonly<{
  architecture: Architecture
  libraries: LibraryChoice
  /** Tarball of Daybook's npm package. */
  tarball: string
  /** Folder for files that are not part of the image. */
  scratch: string
}>

/** Software in an image, for an inventory. */
export type Contents = Readonly<{
  architecture: Architecture
  daybook: string
  node: Runtime
  debian: Readonly<{ release: string; packages: ReturnType<typeof addLibraries> }>
  npm: ReturnType<typeof lockedDependencies>
}>

/** Folders that a runtime mounts something on. A read-only root needs them beforehand. */
const MOUNTED = ['dev', 'proc', 'sys', 'tmp', 'etc', VOLUME]

/** Fills the root folder of the image, or one for each layer, and lists the software in it. */
export function fillRoot(
  { architecture, libraries, tarball, scratch }: Sources,
  folderOf: (layer: LayerName) => string,
): Contents {
  const root = folderOf('libraries')
  for (const name of MOUNTED) mkdirSync(join(root, name), { recursive: true })
  const packages = addLibraries(root, join(scratch, 'debian'), architecture, libraries)
  const name = `daybook:x:${USER_ID}:`
  writeFileSync(join(root, 'etc', 'passwd'), `root:x:0:0::/:\n${name}${USER_ID}::/${VOLUME}:\n`)
  writeFileSync(join(root, 'etc', 'group'), `root:x:0:\n${name}\n`)
  writeFileSync(join(root, 'etc', 'nsswitch.conf'), 'hosts: files dns\n')
  const node = addRuntime(folderOf('runtime'), join(scratch, 'node'), architecture)
  addProgram(folderOf('program'), tarball)
  const debian = { release: librariesLock().release, packages }
  const contents = { architecture, daybook: versionOf(), node, debian, npm: lockedDependencies() }
  const listed = join(folderOf('program'), 'usr', 'share', 'doc', 'daybook')
  mkdirSync(listed, { recursive: true })
  writeFileSync(join(listed, 'contents.json'), `${JSON.stringify(contents, undefined, 2)}\n`)
  return contents
}
