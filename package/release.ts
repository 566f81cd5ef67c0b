import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/**
 * Builds a release into `dist-release/VERSION`: both npm packages, the bill of materials of `daybook`, the notes, and the
 * checksums of all of them. With `--publish` it then publishes the packages with npm's provenance. npm makes the provenance
 * only on a build platform that signs it, and publishes nothing elsewhere.
 */
try {
  release()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function release(): void {
  const { values } = parseArgs({ options: { publish: { type: 'boolean', default: false } } })
  const { version } = Object(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const refusals = [...refusalsOfBuild(version, changelog), ...(values.publish ? refusalsOfTag(version) : [])]
  if (refusals.length > 0) throw new Error(refusals.join('\n'))

  // npm packs a file with the permissions that it has here.
  process.umask(0o022)
  const folder = join(ROOT, 'dist-release', version)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const whole = pack('.', folder)
  // Packing `daybook` has built the client.
  const client = pack('./dist/daybook-client', folder)
  const [bill, notes] = [`daybook-${version}.cdx.json`, `daybook-${version}.notes.md`]
  writeFileSync(join(folder, bill), billOf(join(folder, whole)))
  writeFileSync(join(folder, notes), sectionOf(changelog, version) ?? '')
  const sums = [whole, client, bill, notes].toSorted().map((file) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')
    return `${sum}  ${file}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  process.stdout.write(sums.join(''))

  if (!values.publish) return
  // npm gives the tag `latest` to a version before a release too, unless told otherwise.
  const tag = version.includes('-') ? 'next' : 'latest'
  for (const file of [client, whole])
    run('npm', ['publish', join(folder, file), '--provenance', '--tag', tag])
}

/** Reasons against a build, each with its cure. */
function refusalsOfBuild(version: string, changelog: string): readonly string[] {
  const changed = run('git', ['status', '--porcelain'])
  return [
    ...(changed === ''
      ? []
      : [`the tree has uncommitted files: commit or remove them\n${changed.trimEnd()}`]),
    ...(sectionOf(changelog, version) === undefined
      ? [`CHANGELOG.md has no section \`## [${version}] - YYYY-MM-DD\`: write it`]
      : []),
    ...(/^## \[Unreleased\]\n\s*(?!## )\S/m.test(changelog)
      ? [`CHANGELOG.md has lines under [Unreleased]: move them to the section of ${version}`]
      : []),
  ]
}

function refusalsOfTag(version: string): readonly string[] {
  const tags = run('git', ['tag', '--points-at', 'HEAD']).split('\n')
  return tags.includes(`v${version}`)
    ? []
    : [`HEAD has no tag v${version}: run \`git tag v${version}\` on the commit to release`]
}

/** Text of the dated section of a version; undefined if there is none. */
function sectionOf(changelog: string, version: string): string | undefined {
  return changelog
    .split(/^## /m)
    .find((text) => text.startsWith(`[${version}] - `) && /^\S+ - \d{4}-\d{2}-\d{2}\n/.test(text))
    ?.replace(/^.*\n+/, '')
}

/** Packs the npm package in a folder of the clone, and returns the name of the file. */
function pack(folder: string, to: string): string {
  return basename(run('npm', ['pack', folder, '--silent', '--pack-destination', to]).trim())
}

/**
 * The bill of materials of what `npm install daybook` installs, in CycloneDX. `npm sbom --omit dev` leaves out packages that
 * development packages need too (npm 11.19), so npm first removes the development packages from a copy of the lockfile.
 */
function billOf(tarball: string): string {
  const scratch = mkdtempSync(join(tmpdir(), 'daybook-bill-'))
  // npm names the package after its folder.
  const folder = join(scratch, 'daybook')
  try {
    mkdirSync(folder)
    run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1', 'package/package.json'])
    copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'))
    run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit'], folder)
    const form = ['--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
    return run('npm', ['sbom', ...form], folder)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** Output of a program that succeeds. It gets no settings of the npm that started this one, such as the folder. */
function run(program: string, words: readonly string[], cwd: string = ROOT): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  try {
    return execFileSync(program, words, { cwd, env, stdio, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX })
  } catch (cause) {
    const { stdout = '', stderr = '' } = Object(cause)
    throw new Error(`${program} ${words[0]} failed: ${`${stdout}${stderr}`.trim()}`, { cause })
  }
}
