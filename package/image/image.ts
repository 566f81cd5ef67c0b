import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Architecture, SETTINGS, versionOf } from './facts.ts'
import type { LibraryChoice } from './libraries.ts'
import {
  addImage,
  addIndex,
  addLayer,
  blobPath,
  type Descriptor,
  type Layer,
  nameImage,
  openLayout,
  writeTar,
} from './oci-layout.ts'
import { type Contents, fillRoot, LAYERS } from './root-folder.ts'

type ImageSettings = Readonly<{
  /** Folder for the archives, and for a list of the software in each image. */
  to: string
  architectures: readonly Architecture[]
  libraries: LibraryChoice
  /** Tarball of Daybook's npm package. */
  tarball: string
  /** Level of gzip. 6 is within 1% of 9, in a third of the time. */
  level: number
  /** The commit, and its moment in seconds since 1970. */
  revision: string
  seconds: number
}>

/** A built image: its archive for `docker load`, compressed bytes of its layers, digest of its manifest. */
type BuiltImage = Readonly<{ archive: string; bytes: number; digest: string }>

/** The images of all architectures: their OCI archive, the digest of their index, and each image. */
export type BuiltImages = Readonly<{ archive: string; digest: string; images: readonly BuiltImage[] }>

/** Builds an image for each architecture: one OCI archive of all of them, and an archive of each for `docker load`. */
export async function buildImages(settings: ImageSettings): Promise<BuiltImages> {
  const { to, architectures, seconds } = settings
  const scratch = mkdtempSync(join(tmpdir(), 'daybook-image-'))
  const layout = join(scratch, 'oci')
  const version = versionOf()
  try {
    await openLayout(layout)
    mkdirSync(to, { recursive: true })
    const built: Awaited<ReturnType<typeof buildImage>>[] = []
    for (const architecture of architectures) built.push(await buildImage(settings, architecture, scratch))
    const index = await addIndex(
      layout,
      built.map(({ manifest }) => manifest),
    )
    await nameImage(layout, version, index)
    const archive = join(to, `daybook-${version}.oci.tar`)
    writeTar(archive, layout, seconds)
    return { archive, digest: index.digest, images: built.map(({ image }) => image) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function buildImage(
  { to, libraries, tarball, level, revision, seconds }: ImageSettings,
  architecture: Architecture,
  scratch: string,
): Promise<Readonly<{ manifest: Descriptor; image: BuiltImage }>> {
  const layout = join(scratch, 'oci')
  const folderOf = (name: string): string => join(scratch, architecture, name)
  const contents = fillRoot({ architecture, libraries, tarball, scratch: folderOf('scratch') }, folderOf)
  // Layers are compressed at the same time. Many versions of Daybook have the same libraries and the same Node: only
  // the program has the commit's moment.
  const layers = await Promise.all(
    LAYERS.map((name) => addLayer(layout, folderOf(name), name === 'program' ? seconds : 0, level)),
  )
  const created = new Date(seconds * 1_000).toISOString()
  const { config, manifest } = await addImage(layout, layers, {
    architecture,
    os: 'linux',
    created,
    config: { ...SETTINGS, Labels: labelsOf(contents, revision, created) },
    history: LAYERS.map((name) => ({ created, comment: name })),
  })
  const archive = join(to, `daybook-${versionOf()}-${architecture}.tar`)
  writeArchive(archive, layout, folderOf('archive'), config, layers, seconds)
  writeFileSync(archive.replace(/\.tar$/, '.contents.json'), `${JSON.stringify(contents, undefined, 2)}\n`)
  const bytes = layers.reduce((sum, { blob }) => sum + blob.size, 0)
  return { manifest, image: { archive, bytes, digest: manifest.digest } }
}

function labelsOf({ node, debian }: Contents, revision: string, created: string): object {
  const named = (name: string): string => `org.opencontainers.image.${name}`
  return {
    [named('title')]: 'daybook',
    [named('description')]: 'The open book of a contest and prize platform',
    [named('version')]: versionOf(),
    [named('revision')]: revision,
    [named('created')]: created,
    [named('licenses')]: 'MIT AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1',
    'daybook.node': node.version,
    'daybook.debian': debian.release,
    ...Object.fromEntries(debian.packages.map(({ name, version }) => [`daybook.debian.${name}`, version])),
  }
}

/** Writes an archive as `docker save` does, which every runtime loads under the name of the image. */
function writeArchive(
  archive: string,
  layout: string,
  folder: string,
  config: Descriptor,
  layers: readonly Layer[],
  seconds: number,
): void {
  const blobs = [config, ...layers.map(({ blob }) => blob)].map(({ digest }) => digest)
  const [first = '', ...rest] = blobs.map((digest) => {
    const path = blobPath('', digest)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    linkSync(join(layout, path), join(folder, path))
    return path
  })
  const manifest = [{ Config: first, RepoTags: [`daybook:${versionOf()}`], Layers: rest }]
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  writeTar(archive, folder, seconds)
}
