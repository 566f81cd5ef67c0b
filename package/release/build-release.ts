import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfPackage, formatBill } from './bill-of-materials.ts'
import { checkOut, linkModules } from './checkout.ts'
import { writeChecksums } from './checksums.ts'
import { buildImageFiles } from './image-files.ts'
import { type PackedPackage, packPackages } from './packages.ts'
import type { Source } from './preconditions.ts'
import { buildEnvironment, outputOf } from './programs.ts'
import { provenanceOf, signStatement, subjectsOf } from './provenance.ts'

export type BuildChoice = Readonly<{ withImage: boolean; signingKey: string | undefined }>

/** Files of a release in one folder. `image` is the archive with both architectures. */
export type Built = Readonly<{
  folder: string
  whole: PackedPackage
  client: PackedPackage
  image: string | null
}>

/** File with the integrity of each npm package, as npm prints it. */
export const INTEGRITY = 'npm-integrity.txt'

/** Builds every file of a release in an empty folder: a checkout in `checkout`, the files in `release`. */
export function buildRelease(source: Source, scratch: string, choice: BuildChoice): Built {
  const [checkout, folder] = [join(scratch, 'checkout'), join(scratch, 'release')]
  mkdirSync(folder, { recursive: true })
  checkOut(source, checkout)
  linkModules(source, checkout)
  const env = buildEnvironment(source.epochSeconds)
  const { whole, client } = packPackages(checkout, folder, env)
  const name = `daybook-${source.version}`
  const tarball = join(folder, whole.file)
  const bill = billOfPackage(source, checkout, tarball, env)
  const image = choice.withImage
    ? buildImageFiles(source, { checkout, scratch, folder, tarball }, bill, env)
    : null
  const files = [whole.file, client.file, ...(image?.files ?? [])]
  const add = (file: string, text: string): void => {
    writeFileSync(join(folder, file), text)
    files.push(file)
  }
  add(`${name}.cdx.json`, formatBill(bill))
  const integrities = [whole, client].map(({ file, integrity }) => `${integrity}  ${file}\n`)
  add(INTEGRITY, integrities.join(''))
  const subjects = [...subjectsOf(folder, files), ...(image?.subjects ?? [])]
  const statement = provenanceOf(source, subjects, {
    parameters: { image: choice.withImage },
    npm: outputOf('npm', ['--version'], { cwd: checkout, env }).trim(),
    materials: image?.materials ?? [],
  })
  const text = `${JSON.stringify(statement, undefined, 2)}\n`
  add(`${name}.provenance.json`, text)
  if (choice.signingKey !== undefined) {
    const envelope = signStatement(text, readFileSync(choice.signingKey, 'utf8'))
    add(`${name}.provenance.dsse.json`, `${JSON.stringify(envelope)}\n`)
  }
  writeChecksums(folder, files)
  return { folder, whole, client, image: image?.oci ?? null }
}
