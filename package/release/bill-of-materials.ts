import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOfFile } from './checksums.ts'
import { type LockedPackage, lockedPackages, type Source } from './preconditions.ts'
import { outputOf } from './programs.ts'
import { tarEntriesOf } from './tar-entries.ts'

/** A component of CycloneDX 1.5. */
export type Component = Readonly<{ 'bom-ref': string; type: string; name: string; version: string }> &
  Readonly<Record<string, unknown>>

type Dependency = Readonly<{ ref: string; dependsOn: readonly string[] }>

/** A bill of materials in the JSON of CycloneDX 1.5. */
export type Bill = Readonly<{
  serialNumber: string
  metadata: Readonly<{ component: Component }> & Readonly<Record<string, unknown>>
  components: readonly Component[]
  dependencies: readonly Dependency[]
}> &
  Readonly<Record<string, unknown>>

/** Makes the bill of the package `daybook` with the command `npm sbom`: what `npm install daybook` installs. */
export function billOfPackage(
  { epochSeconds }: Source,
  checkout: string,
  tarball: string,
  env: NodeJS.ProcessEnv,
): Bill {
  const folder = writeProductionLock(checkout, tarball)
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const bill: Bill = JSON.parse(outputOf('npm', words, { cwd: folder, env }))
  rmSync(join(folder, '..'), { recursive: true })
  const component: Component = { ...bill.metadata.component, hashes: hashesOf(tarball) }
  const timestamp = new Date(epochSeconds * 1000).toISOString()
  return serialised({ ...bill, metadata: { ...bill.metadata, timestamp, component } })
}

/** Makes the bill of an image: an application that contains the package, and the image's own components. */
export function billOfImage(ofPackage: Bill, image: Component, parts: readonly Component[]): Bill {
  const daybook = ofPackage.metadata.component
  const contained = [daybook, ...parts].map((component) => component['bom-ref'])
  const dependencies: readonly Dependency[] = [
    { ref: image['bom-ref'], dependsOn: contained },
    ...ofPackage.dependencies,
    ...parts.map((part) => ({ ref: part['bom-ref'], dependsOn: [] })),
  ]
  return serialised({
    ...ofPackage,
    metadata: { ...ofPackage.metadata, component: image },
    components: [daybook, ...ofPackage.components, ...parts],
    dependencies,
  })
}

/** Text of a bill's file. */
export function formatBill(bill: Bill): string {
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

/** Hashes of a file, in the form of a component. */
export function hashesOf(path: string): readonly object[] {
  return [
    { alg: 'SHA-256', content: hashOfFile(path, 'sha256') },
    { alg: 'SHA-512', content: hashOfFile(path, 'sha512') },
  ]
}

/**
 * Writes the packed manifest and a lockfile of what it needs, and returns their folder. `npm sbom --omit dev` on the
 * whole lockfile leaves out production packages that development packages also use (npm 11.19).
 */
function writeProductionLock(checkout: string, tarball: string): string {
  // npm names the package after its folder.
  const folder = join(checkout, 'dist', 'bill', 'daybook')
  mkdirSync(folder, { recursive: true })
  const manifest = tarEntriesOf(readFileSync(tarball)).find(({ path }) => path === 'package/package.json')
  if (manifest === undefined) throw new Error('the packed package has no package.json')
  writeFileSync(join(folder, 'package.json'), manifest.content)
  const packages = {
    '': JSON.parse(manifest.content.toString()),
    ...productionPackages(join(checkout, 'package-lock.json')),
  }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
  return folder
}

/** Packages of a lockfile that an installation of `daybook` has, by path. */
export function productionPackages(lockfile: string): Readonly<Record<string, LockedPackage>> {
  const packages = Object.entries(lockedPackages(lockfile))
  return Object.fromEntries(
    packages.filter(
      ([path, { dev, optional, devOptional }]) => path !== '' && !(dev || optional || devOptional),
    ),
  )
}

/** Gives a bill a serial number that follows from its content, in the form of a UUID of version 8. */
function serialised(bill: Bill): Bill {
  const { serialNumber: _, ...content } = bill
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const uuid = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
  return { ...bill, serialNumber: `urn:uuid:${uuid}` }
}
