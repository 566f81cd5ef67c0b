import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { join } from 'node:path'
import { hashOfFile } from './checksums.ts'
import { lockedPackages, type Source } from './preconditions.ts'

/** Something that a build used: a resource descriptor of in-toto. */
export type Material = Readonly<{ name?: string; uri?: string; digest: Readonly<Record<string, string>> }>

/** Subject of a statement: a file or an image with its digests. */
export type Subject = Readonly<{ name: string; digest: Readonly<Record<string, string>> }>

const STATEMENT = 'https://in-toto.io/Statement/v1'
const PREDICATE = 'https://slsa.dev/provenance/v1'
const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
/** Says that the command `npm run release` of the named commit made the files. */
const BUILD_TYPE = 'urn:daybook:build:npm-run-release:1'
/** Says that a person's machine made the files. No build platform vouches for it. */
const BUILDER = 'urn:daybook:builder:own-machine'

/** The digests of files in a folder, sorted by name. */
export function subjectsOf(folder: string, files: readonly string[]): readonly Subject[] {
  return files.toSorted().map((name) => {
    const path = join(folder, name)
    return { name, digest: { sha256: hashOfFile(path, 'sha256'), sha512: hashOfFile(path, 'sha512') } }
  })
}

/** Makes an in-toto Statement v1 with a predicate of SLSA provenance v1. */
export function provenanceOf(
  source: Source,
  subject: readonly Subject[],
  build: Readonly<{ parameters: object; npm: string; materials: readonly Material[] }>,
): object {
  return {
    _type: STATEMENT,
    subject,
    predicateType: PREDICATE,
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version: source.version, ...build.parameters },
        internalParameters: {
          sourceDateEpoch: source.epochSeconds,
          node: process.versions.node,
          npm: build.npm,
          platform: `${process.platform}-${process.arch}`,
        },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: source.commit } },
          ...lockedMaterials(join(source.root, 'package-lock.json')),
          ...build.materials,
        ],
      },
      runDetails: { builder: { id: BUILDER } },
    },
  }
}

/** Each package of a lockfile with its digest, tools of the build included. */
function lockedMaterials(lockfile: string): readonly Material[] {
  return Object.entries(lockedPackages(lockfile)).flatMap(([path, { name, version, integrity }]) => {
    if (path === '' || version === undefined || integrity === undefined) return []
    const [, sha512 = ''] = /^sha512-(\S+)$/.exec(integrity) ?? []
    const named = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const uri = `pkg:npm/${named.replace('@', '%40')}@${version}`
    return [{ uri, digest: { sha512: Buffer.from(sha512, 'base64').toString('hex') } }]
  })
}

/** Signs a statement with an Ed25519 key in PEM: an envelope of DSSE 1.0, as in-toto prescribes. */
export function signStatement(statement: string, pem: string): object {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(
      'the signing key is not an Ed25519 key: make one with `openssl genpkey -algorithm ed25519`',
    )
  }
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const payload = Buffer.from(statement)
  const authenticated = Buffer.concat([
    Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `),
    payload,
  ])
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString('base64'),
    signatures: [
      {
        keyid: createHash('sha256').update(publicKey).digest('hex'),
        sig: sign(null, authenticated, key).toString('base64'),
      },
    ],
  }
}
