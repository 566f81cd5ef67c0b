import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Bill, billOfImage, type Component, formatBill } from './bill-of-materials.ts'
import type { Source } from './preconditions.ts'
import { outputOf } from './programs.ts'
import type { Material, Subject } from './provenance.ts'

/** Software in an image beside Daybook, as `npm run image` lists it beside each archive. */
export type ImageContents = Readonly<{
  architecture: string
  node: Readonly<{ name: string; version: string; integrity: string }>
  debian: Readonly<{
    release: string
    packages: readonly Readonly<{ name: string; version: string; sha256: string }>[]
  }>
}>

/** Files of the image in a release. `oci` has both architectures. */
export type ImageFiles = Readonly<{
  oci: string
  files: readonly string[]
  subjects: readonly Subject[]
  materials: readonly Material[]
}>

const ARCHITECTURES = ['amd64', 'arm64'] as const

/** Builds the image of both architectures from the packed package: archives and bills of materials. */
export function buildImageFiles(
  { version }: Source,
  places: Readonly<{ checkout: string; scratch: string; folder: string; tarball: string }>,
  ofPackage: Bill,
  env: NodeJS.ProcessEnv,
): ImageFiles {
  const { checkout, folder, tarball } = places
  const built = join(places.scratch, 'image')
  const words = [join('package', 'image', 'build.ts'), '--to', built, '--package', tarball]
  const digests = digestsIn(outputOf(process.execPath, words, { cwd: checkout, env }))
  const digestOf = (archive: string): string => {
    const digest = digests.get(archive)
    if (digest === undefined) throw new Error(`the build of the image names no digest of ${archive}`)
    return digest
  }
  const oci = `daybook-${version}.oci.tar`
  const files = [...digests.keys()]
  const subjects = [subjectOf(`daybook:${version}`, digestOf(oci))]
  const materials: Material[] = []
  for (const file of files) renameSync(join(built, file), join(folder, file))
  for (const architecture of ARCHITECTURES) {
    const name = `daybook-${version}-${architecture}`
    const contents: ImageContents = JSON.parse(readFileSync(join(built, `${name}.contents.json`), 'utf8'))
    const digest = digestOf(`${name}.tar`)
    writeFileSync(join(folder, `${name}.cdx.json`), formatBill(billOfContents(ofPackage, contents, digest)))
    files.push(`${name}.cdx.json`)
    subjects.push(subjectOf(`daybook:${version} (linux/${architecture})`, digest))
    for (const library of contents.debian.packages) {
      materials.push({ uri: debianUrl(library, contents), digest: { sha256: library.sha256 } })
    }
  }
  rmSync(built, { recursive: true })
  return { oci, files, subjects, materials }
}

function subjectOf(image: string, digest: string): Subject {
  return { name: image, digest: { sha256: digest.replace('sha256:', '') } }
}

/** Makes the bill of an image: Daybook with its packages, Node, and Debian's libraries. */
export function billOfContents(ofPackage: Bill, contents: ImageContents, digest: string): Bill {
  const { architecture, node, debian } = contents
  const { version } = ofPackage.metadata.component
  const encoded = encodeURIComponent(digest)
  const image: Component = {
    'bom-ref': `image-${architecture}`,
    type: 'container',
    name: 'daybook',
    version,
    purl: `pkg:oci/daybook@${encoded}?arch=${architecture}&tag=${version}`,
    hashes: [{ alg: 'SHA-256', content: digest.replace('sha256:', '') }],
  }
  const runtime: Component = {
    'bom-ref': `node@${node.version}`,
    type: 'platform',
    name: 'node',
    version: node.version,
    purl: `pkg:generic/node@${node.version}`,
    // Scanners know Node's weaknesses by this name.
    cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:*:*:*:*`,
    properties: [{ name: 'daybook:from', value: `pkg:npm/${node.name}@${node.version}` }],
    hashes: [
      {
        alg: 'SHA-512',
        content: Buffer.from(node.integrity.replace('sha512-', ''), 'base64').toString('hex'),
      },
    ],
  }
  const libraries = debian.packages.map((library): Component => ({
    'bom-ref': `debian/${library.name}@${library.version}`,
    type: 'library',
    name: library.name,
    version: library.version,
    purl: debianUrl(library, contents),
    hashes: [{ alg: 'SHA-256', content: library.sha256 }],
  }))
  return billOfImage(ofPackage, image, [runtime, ...libraries])
}

function debianUrl(
  { name, version }: Readonly<{ name: string; version: string }>,
  { architecture, debian }: ImageContents,
): string {
  // A package URL keeps the colon of an epoch.
  const encoded = encodeURIComponent(version).replaceAll('%3A', ':')
  return `pkg:deb/debian/${encodeURIComponent(name)}@${encoded}?arch=${architecture}&distro=${debian.release}`
}

/** Digests of manifests by their archive, in the output of `npm run image`: `PATH: SIZE, DIGEST` on each line. */
function digestsIn(output: string): ReadonlyMap<string, string> {
  const lines = output.matchAll(/^(.+\.tar): (?:.+, )?(sha256:[0-9a-f]{64})$/gm)
  return new Map([...lines].map(([, path = '', digest = '']) => [basename(path), digest]))
}
