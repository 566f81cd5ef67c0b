import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Command } from 'commander'
import { buildRelease, type Built, INTEGRITY } from './build-release.ts'
import { firstDifference } from './comparison.ts'
import { refusalsOfBuild, refusalsOfUpload, type Source, sourceOf } from './preconditions.ts'
import { passCi, uploadImage, uploadPackage } from './upload.ts'

type Options = Readonly<{
  dryRun: boolean
  twice: boolean
  withoutImage: boolean
  yes: boolean
  signingKey?: string
  registry?: string
}>

const ROOT = join(import.meta.dirname, '..', '..')

const options: Options = new Command('npm run release --')
  .description('Builds a release into dist-release, runs CI, and uploads both npm packages and the image.')
  .option('--dry-run', 'build only: run no CI, and upload nothing', false)
  .option('--twice', 'build twice in two folders and compare, as an upload always does', false)
  .option('--without-image', 'leave the image out', false)
  .option('--signing-key <file>', 'Ed25519 key in PEM that signs the provenance statement')
  .option('--registry <destination>', 'where skopeo copies the image to, such as docker://HOST/daybook')
  .option('--yes', 'upload without a further question', false)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts()

// npm packs a file with the permissions that the checkout gave it.
process.umask(0o022)
const scratch = mkdtempSync(join(tmpdir(), 'daybook-release-'))
try {
  release(sourceOf(ROOT))
} catch (error) {
  tell(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function release(source: Source): void {
  const uploads = !options.dryRun
  const withImage = !options.withoutImage
  const choice = { yes: options.yes, withImage, registry: options.registry }
  const refusals = [...refusalsOfBuild(source), ...(uploads ? refusalsOfUpload(source, choice) : [])]
  if (refusals.length > 0) throw new Error(refusals.join('\n'))
  const built = buildRelease(source, join(scratch, 'first'), { withImage, signingKey: options.signingKey })
  if (options.twice || uploads) compareWithSecond(source, built)
  const folder = join(ROOT, 'dist-release', source.version)
  rmSync(folder, { recursive: true, force: true })
  cpSync(built.folder, folder, { recursive: true, preserveTimestamps: true })
  report(folder)
  if (!uploads) return
  tell('CI runs on a clone of the commit')
  passCi(source, join(scratch, 'ci'))
  // The image first: a tag can be moved, and a version of npm cannot be taken back.
  if (built.image !== null && options.registry !== undefined) {
    uploadImage(join(folder, built.image), options.registry, source.version)
  }
  uploadPackage(folder, 'daybook-client', source.version, built.client)
  uploadPackage(folder, 'daybook', source.version, built.whole)
  tell(`uploaded ${source.version}`)
}

/** Builds again in a folder with a path of another length, and fails when a file differs. */
function compareWithSecond(source: Source, first: Built): void {
  const second = buildRelease(source, join(scratch, 'the-second-build'), {
    withImage: !options.withoutImage,
    signingKey: options.signingKey,
  })
  const different = firstDifference(first.folder, second.folder)
  if (different !== null) throw new Error(`two builds of the same commit differ: first in ${different}`)
  tell('two builds are the same, byte for byte')
}

function report(folder: string): void {
  for (const file of readdirSync(folder).toSorted()) {
    process.stdout.write(`${String(statSync(join(folder, file)).size).padStart(10)}  ${file}\n`)
  }
  process.stdout.write(readFileSync(join(folder, INTEGRITY), 'utf8'))
  if (options.signingKey === undefined)
    tell('the provenance statement is not signed: give --signing-key to sign it')
  tell(`built into ${relative(ROOT, folder)}`)
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`)
}
