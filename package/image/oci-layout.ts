import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, readdirSync } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { outputOf } from '../release/programs.ts'
import { USER_ID, VOLUME } from './facts.ts'

/** Reference to a blob, as OCI defines it. */
export type Descriptor = Readonly<{
  mediaType: string
  digest: string
  size: number
  annotations?: Readonly<Record<string, string>>
  platform?: Readonly<{ architecture: string; os: 'linux' }>
}>

/** A layer: its compressed blob, and the digest of its bytes before compression. */
export type Layer = Readonly<{ blob: Descriptor; diffId: string }>

const TYPE = 'application/vnd.oci.image'

/** Path of a blob in a layout. */
export function blobPath(layout: string, digest: string): string {
  return join(layout, 'blobs', ...digest.split(':'))
}

/** Makes the folders and the marker of an empty OCI image layout. */
export async function openLayout(layout: string): Promise<void> {
  await rm(layout, { recursive: true, force: true })
  await mkdir(join(layout, 'blobs', 'sha256'), { recursive: true })
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
}

/**
 * Adds a folder as a layer. Its bytes depend on names, contents and `seconds` only: the entries are sorted, and
 * all files but the volume belong to root.
 */
export async function addLayer(
  layout: string,
  folder: string,
  seconds: number,
  level: number,
): Promise<Layer> {
  const tar = `${folder}.tar`
  const names = readdirSync(folder).toSorted()
  const rest = names.filter((name) => name !== VOLUME)
  writeTar(tar, folder, seconds, rest)
  // An orchestrator may choose any user. It leaves the group at 0, so the group may write.
  if (rest.length < names.length)
    writeTar(tar, folder, seconds, [VOLUME], ['--append', `--owner=${USER_ID}`, '--mode=ug=rwx,o=rx'])
  const [before, after] = [createHash('sha256'), createHash('sha256')]
  const [plain, packed] = [new PassThrough(), new PassThrough()]
  plain.on('data', (chunk: Buffer) => before.update(chunk))
  packed.on('data', (chunk: Buffer) => after.update(chunk))
  const gzip = `${folder}.tar.gz`
  await pipeline(createReadStream(tar), plain, createGzip({ level }), packed, createWriteStream(gzip))
  const digest = `sha256:${after.digest('hex')}`
  const { size } = await stat(gzip)
  await rename(gzip, blobPath(layout, digest))
  await rm(tar)
  const blob = { mediaType: `${TYPE}.layer.v1.tar+gzip`, digest, size }
  return { blob, diffId: `sha256:${before.digest('hex')}` }
}

/** Options of tar for files that everyone may read and only root may write. */
const ROOT_OWNED = ['--create', '--owner=0', '--mode=u=rwX,go=rX']

/** Writes a tar archive that does not depend on the order, the owners and the times of the files in the folder. */
export function writeTar(
  tar: string,
  folder: string,
  seconds: number,
  names: readonly string[] = readdirSync(folder).toSorted(),
  choices: readonly string[] = ROOT_OWNED,
): void {
  const options = ['--format=ustar', '--sort=name', '--numeric-owner', '--group=0', `--mtime=@${seconds}`]
  outputOf('tar', [...options, ...choices, `--file=${tar}`, ...names], { cwd: folder })
}

/** Adds an image of one architecture: its configuration and its manifest. */
export async function addImage(
  layout: string,
  layers: readonly Layer[],
  configuration: Readonly<{ architecture: string; os: 'linux' } & Record<string, unknown>>,
): Promise<Readonly<{ config: Descriptor; manifest: Descriptor }>> {
  const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) }
  const config = await addJson(layout, `${TYPE}.config.v1+json`, { ...configuration, rootfs })
  const mediaType = `${TYPE}.manifest.v1+json`
  const manifest = await addJson(layout, mediaType, {
    schemaVersion: 2,
    mediaType,
    config,
    layers: layers.map(({ blob }) => blob),
  })
  const { architecture, os } = configuration
  return { config, manifest: { ...manifest, platform: { architecture, os } } }
}

/** Adds an index of images, from which a runtime takes the one of its architecture. */
export function addIndex(layout: string, manifests: readonly Descriptor[]): Promise<Descriptor> {
  const mediaType = `${TYPE}.index.v1+json`
  return addJson(layout, mediaType, { schemaVersion: 2, mediaType, manifests })
}

/** Gives the only image of a layout its tag. */
export async function nameImage(layout: string, tag: string, image: Descriptor): Promise<void> {
  const annotations = { 'org.opencontainers.image.ref.name': tag }
  const manifests = [{ ...image, annotations }]
  const index = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests }
  await writeFile(join(layout, 'index.json'), JSON.stringify(index))
}

async function addJson(layout: string, mediaType: string, value: object): Promise<Descriptor> {
  const text = JSON.stringify(value)
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  await writeFile(blobPath(layout, digest), text)
  return { mediaType, digest, size: Buffer.byteLength(text) }
}
