import {
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { hashOfFile } from '../release/checksums.ts'
import { outputOf } from '../release/programs.ts'
import { type Architecture, ROOT } from './facts.ts'

const LOCK = join(import.meta.dirname, 'libraries.json')
const DOWNLOADED = join(ROOT, 'node_modules', '.cache', 'image')

/** A Debian package of the image. */
type Library = Readonly<{ name: string; version: string; sha256: string }>

/** The downloaded file of a package. */
type LibraryFile = Library & Readonly<{ file: string }>

/** Versions to take: those of the lock file, or the newest that Debian offers. */
export type LibraryChoice = 'locked' | 'newest'

/** Shared objects that Node loads: itself, or for names of hosts. */
const LOADED =
  /^(?:usr\/)?lib(?:64)?\/(?:[\w-]+-linux-gnu\/)?(?:ld-linux[\w.-]+|lib(?:atomic|c|dl|gcc_s|m|nss_dns|nss_files|pthread|resolv|rt|stdc\+\+)\.so[\d.]*)$/

/** Files that say which Debian this is, and under which licences. */
const DESCRIBED =
  /^(?:etc\/(?:debian_version|os-release)|usr\/lib\/os-release|usr\/share\/common-licenses\/.+|usr\/share\/doc\/[^/]+(?:\/copyright)?)$/

/** The lock file: a release of Debian, and its packages in the image. */
export function librariesLock(): Readonly<{
  release: string
  packages: Readonly<Record<Architecture, readonly Library[]>>
}> {
  return Object(JSON.parse(readFileSync(LOCK, 'utf8')))
}

/** Writes the newest versions that Debian offers into the lock file. */
export function lockNewestLibraries(scratch: string): void {
  const { release } = librariesLock()
  const newest = (architecture: Architecture): readonly Library[] =>
    download(architecture, 'newest', join(scratch, architecture)).map(libraryOf)
  const packages = { amd64: newest('amd64'), arm64: newest('arm64') }
  writeFileSync(LOCK, `${JSON.stringify({ release, packages }, undefined, 2)}\n`)
}

/**
 * Adds Debian's libraries to a root folder: what Node loads, the licences, and the packages' descriptions, in which a
 * scanner finds the versions.
 */
export function addLibraries(
  root: string,
  scratch: string,
  architecture: Architecture,
  choice: LibraryChoice,
): readonly Library[] {
  const found = kept(architecture, choice) ?? download(architecture, choice, scratch)
  const unpacked = join(scratch, 'unpacked')
  const described = join(root, 'var', 'lib', 'dpkg', 'status.d')
  for (const folder of [unpacked, described]) mkdirSync(folder, { recursive: true })
  for (const { name, file } of found) {
    outputOf('dpkg-deb', ['--extract', file, unpacked], { cwd: unpacked })
    writeFileSync(join(described, name), outputOf('dpkg-deb', ['--field', file], { cwd: unpacked }))
  }
  for (const path of globSync('**', { cwd: unpacked })) {
    const from = join(unpacked, path)
    const status = lstatSync(from)
    if (status.isDirectory() || !(LOADED.test(path) || DESCRIBED.test(path))) continue
    const to = join(root, path)
    mkdirSync(dirname(to), { recursive: true })
    if (status.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
    else copyFileSync(from, to)
  }
  return found.map(libraryOf)
}

const libraryOf = ({ name, version, sha256 }: LibraryFile): Library => ({ name, version, sha256 })

/** Path at which a downloaded package is kept, by its digest. */
const keptPath = (sha256: string): string => join(DOWNLOADED, `${sha256}.deb`)

/** The locked packages as an earlier build has downloaded them; undefined when one is missing. */
function kept(architecture: Architecture, choice: LibraryChoice): readonly LibraryFile[] | undefined {
  const wanted = librariesLock().packages[architecture]
  if (choice === 'newest' || !wanted.every(({ sha256 }) => existsSync(keptPath(sha256)))) return undefined
  return wanted.map((library) => checked(library, keptPath(library.sha256)))
}

/**
 * Downloads the packages with apt, which checks Debian's signatures. It keeps its state in `scratch`, so the packages of
 * this machine stay as they are.
 */
function download(
  architecture: Architecture,
  choice: LibraryChoice,
  scratch: string,
): readonly LibraryFile[] {
  const { release, packages } = librariesLock()
  const wanted = packages[architecture]
  const archives = join(scratch, 'archives')
  for (const path of ['state/lists/partial', 'cache/archives/partial', 'archives'])
    mkdirSync(join(scratch, path), { recursive: true })
  const settings = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    'Acquire::Languages=none',
    `Dir::State=${join(scratch, 'state')}`,
    'Dir::State::status=/dev/null',
    `Dir::Cache=${join(scratch, 'cache')}`,
  ]
  const apt = (...words: readonly string[]): void => {
    const options = ['-qq', ...settings.flatMap((setting) => ['-o', setting])]
    outputOf('apt-get', [...options, ...words], { cwd: archives })
  }
  try {
    apt('update')
    apt('download', ...wanted.map(({ name, version }) => (choice === 'newest' ? name : `${name}=${version}`)))
  } catch (cause) {
    const advice = `Run this on Debian ${release}. If Debian has newer versions: npm run image -- --lock-libraries`
    throw new Error(`Debian's libraries for ${architecture} cannot be downloaded. ${advice}`, { cause })
  }
  mkdirSync(DOWNLOADED, { recursive: true })
  return wanted.map((library) => {
    const [path = ''] = globSync(`${library.name}_*.deb`, { cwd: archives })
    const file = join(archives, path)
    const found = checked(choice === 'locked' ? library : readLibrary(library.name, file), file)
    copyFileSync(file, keptPath(found.sha256))
    return found
  })
}

function readLibrary(name: string, file: string): Library {
  const version = outputOf('dpkg-deb', ['--field', file, 'Version'], { cwd: dirname(file) }).trim()
  return { name, version, sha256: hashOfFile(file, 'sha256') }
}

function checked(library: Library, file: string): LibraryFile {
  if (hashOfFile(file, 'sha256') !== library.sha256)
    throw new Error(`${file}: ${library.name} ${library.version} is not the package of libraries.json`)
  return { ...library, file }
}
