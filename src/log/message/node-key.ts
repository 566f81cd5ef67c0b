import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base64urlnopad } from '@scure/base'
import type { VerifierKey } from '../../tlog/vkey.ts'
import { renameDurably } from '../store/durable-rename.ts'
import { StoreError } from '../store/store.ts'
import type { SigningKey } from '../tree/signer.ts'
import { verifyRawEd25519 } from '../tree/signer.ts'

/** File of the key with which a node signs its messages. It is made at the first start on an engine. */
export const NODE_KEY_FILE = 'node.key'

const OWNER_ONLY = 0o600

/** A node's key for its messages, and the certificate that a key of the log has signed for it. */
export type NodeSigner = Readonly<{ key: SigningKey; certificate: Uint8Array }>

/** Reads the node's key in a data directory, or makes it. The new file is durable when this returns. */
export function openNodeKey(dataDirectory: string): SigningKey {
  const path = join(dataDirectory, NODE_KEY_FILE)
  if (!existsSync(path)) makeNodeKey(path)
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(readFileSync(path))
  } catch (cause) {
    throw new StoreError(`${path} cannot be read as a key: remove it, and the next start makes another`, {
      cause,
    })
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') {
    throw new StoreError(`${path} does not hold an Ed25519 key: remove it, and the next start makes another`)
  }
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: base64urlnopad.decode(x) }
}

/** Removes the key of a node whose log leaves its engine. The next start on an engine makes another. */
export function removeNodeKey(dataDirectory: string): void {
  rmSync(join(dataDirectory, NODE_KEY_FILE), { force: true })
}

function makeNodeKey(path: string): void {
  const making = `${path}.making`
  rmSync(making, { force: true })
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })
  writeFileSync(making, pem, { mode: OWNER_ONLY, flag: 'wx' })
  renameDurably(making, path)
}

/** Certifies a node's key with a key of the log. */
export function certifyNode(logId: string, key: SigningKey, logKey: SigningKey): NodeSigner {
  return { key, certificate: sign(null, certificateText(logId, key.publicKey), logKey.privateKey) }
}

function certificateText(logId: string, publicKey: Uint8Array): Uint8Array {
  return Buffer.from(`daybook node key\n${logId}\n${Buffer.from(publicKey).toString('base64')}\n`)
}

/** Tells messages of this log's nodes from foreign ones. */
export type NodeVerifier = Readonly<{
  /** Reason why a message is foreign; null when a key of the log certified the node's key that signed its digest. */
  refusalOf(
    of: Readonly<{
      publicKey: Uint8Array
      certificate: Uint8Array
      digest: Uint8Array
      signature: Uint8Array
    }>,
  ): string | null
}>

/** Nodes whose keys are remembered, so that a certificate is verified once. */
const NODES_CACHED_MAX = 64

/** Opens the verifier for a log with these keys. They are those that sign it now. */
export function openNodeVerifier(logId: string, keys: readonly VerifierKey[]): NodeVerifier {
  const certified = new Map<string, KeyObject>()

  function keyOf(publicKey: Uint8Array, certificate: Uint8Array): KeyObject | undefined {
    const name = Buffer.concat([publicKey, certificate]).toString('base64')
    const known = certified.get(name)
    if (known !== undefined) return known
    const text = certificateText(logId, publicKey)
    if (!keys.some((key) => verifyRawEd25519(key.publicKey, text, certificate))) return undefined
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(publicKey) }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    if (certified.size >= NODES_CACHED_MAX) certified.clear()
    certified.set(name, key)
    return key
  }

  return {
    refusalOf({ publicKey, certificate, digest, signature }) {
      const key = keyOf(publicKey, certificate)
      if (key === undefined) return 'no key of the log has certified the node that signed it'
      return verify(null, digest, key, signature) ? null : 'its signature is not of its node'
    },
  }
}
