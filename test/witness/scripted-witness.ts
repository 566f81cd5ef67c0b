import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'
import { cosignText } from '../../src/tlog/cosignature.ts'
import { keyOfSeed, mlDsaKeyOfSeed } from '../tlog/example.ts'
import { formatVkey, type VerifierKey } from '../../src/tlog/note.ts'

/** Answer of a witness to one request. */
type Scripted = Readonly<{ status: number; body: string; headers?: Readonly<Record<string, string>> }>
/** A request to it: the old size, the number of proof lines, and the checkpoint. */
export type Asked = Readonly<{
  oldSize: number
  proofLines: number
  size: number
  text: string
  note: string
}>
/** Behaviour of a witness: it cosigns what follows from its size, or answers as scripted. `null` answers nothing. */
type Behaviour = 'honest' | null | ((asked: Asked, honest: () => Scripted) => Scripted | Promise<Scripted>)

/** A witness of tests that can do what a real one never does. It verifies no proof and no signature of the log. */
export type ScriptedWitness = AsyncDisposable & {
  readonly url: string
  readonly key: VerifierKey
  readonly vkey: string
  /** Every request, in order. */
  readonly asked: Asked[]
  behaviour: Behaviour
  /** Size that it has cosigned. */
  size: number
  /** Time of its cosignatures in whole seconds. */
  timeSeconds: () => number
  /** Signature line for a checkpoint's text. */
  line(text: string, timeSeconds: number): string
}

/** Starts a witness with a key made from its name. */
export async function startScriptedWitness(
  name: string,
  type: 'ed25519' | 'ml-dsa-44' = 'ed25519',
): Promise<ScriptedWitness> {
  const seed = createHash('sha256').update(name).digest()
  const { key, sign } =
    type === 'ed25519' ? keyOfSeed(name, 'ed25519-cosignature', seed) : mlDsaKeyOfSeed(name, seed)
  const line: ScriptedWitness['line'] = (text, timeSeconds) => {
    const { keyId, signature } = cosignText(key, sign, timeSeconds, text)
    const bytes = Buffer.concat([Buffer.from(keyId, 'hex'), signature])
    return `\u2014 ${name} ${bytes.toString('base64')}\n`
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const witness: ScriptedWitness = {
    url: `http://127.0.0.1:${address.port}`,
    key,
    vkey: formatVkey(key),
    asked: [],
    behaviour: 'honest',
    size: 0,
    timeSeconds: () => Math.floor(Date.now() / 1_000),
    line,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  function honest({ oldSize, size, text }: Asked): Scripted {
    if (oldSize !== witness.size) {
      return { status: 409, body: `${witness.size}\n`, headers: { 'Content-Type': 'text/x.tlog.size' } }
    }
    witness.size = size
    return { status: 200, body: line(text, witness.timeSeconds()) }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    const blank = body.indexOf('\n\n')
    const [first = '', ...proof] = body.slice(0, blank).split('\n')
    const note = body.slice(blank + 2)
    const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
    const asked: Asked = {
      oldSize: Number(first.slice('old '.length)),
      proofLines: proof.length,
      size: Number(text.split('\n')[1]),
      text,
      note,
    }
    witness.asked.push(asked)
    const { behaviour } = witness
    if (behaviour === null) return
    const made = behaviour === 'honest' ? honest(asked) : await behaviour(asked, () => honest(asked))
    response.writeHead(made.status, made.headers).end(made.body)
  }
  return witness
}
