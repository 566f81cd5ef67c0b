import { isDeepStrictEqual } from 'node:util'
import { formatEntry } from '../../tlog/entries.ts'
import type { Frontier } from '../../tlog/frontier.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../tlog/frontier.ts'
import type { Hash } from '../../tlog/hash.ts'
import { isSame } from '../../tlog/hash.ts'
import { parseVkey } from '../../tlog/vkey.ts'
import type { ListedKey } from '../store/reader.ts'
import { tryRead } from '../tree/signed-trees.ts'
import { sha256 } from '../tree/signer.ts'
import { HASHER } from '../tree/stored-tree.ts'
import type { Commit, Message, SealCause } from './message.ts'
import { FIRST_STREAM, MESSAGE_VERSION } from './message.ts'
import { decodeMessage, digestOfMessage } from './message-frame.ts'
import { isMovePart } from './read-moving.ts'
import { refusalOfPlace } from './next-message.ts'
import type { NodeVerifier } from './node-key.ts'
import { openNodeVerifier } from './node-key.ts'

/** End of the chain of the messages that were added. */
export type ChainEnd = Readonly<{
  /** Id of the log; empty before the first message. */
  logId: string
  stream: number
  /** Newest place in the stream. A seal leads to place 0 of the next one. */
  place: number
  /** Reason for the end of the stream before, when nothing of the next one was added; null otherwise. */
  sealed: SealCause | null
  /** Whether a move of the log to the stream has not ended. */
  isMoving: boolean
  /** Seq of the newest event. */
  head: number
  /** Keys that sign the log and certify its nodes. */
  vkeys: readonly string[]
}>

/** Holds messages against each other, without a store: their chain, their signatures and their roots. */
export type StreamChain = Readonly<{
  /** Adds the message at a place. Returns why it does not continue the chain; otherwise its content. */
  add(
    place: number,
    bytes: Uint8Array,
  ): Readonly<{ fault: string }> | Readonly<{ fault: null; message: Message }>
  end(): ChainEnd
}>

type ChainStart = Readonly<{
  stream: number
  /** Digest of the last message of the stream before; null when it is not known. */
  prev: Hash | null
  /** Tree with so many events; null when it is not known. Then the roots of the stream are not checked. */
  treeAt(size: number): Frontier | null
}>

/** State of a chain. `prev` is null only before the first message. */
type ChainState = {
  logId: string
  origin: string
  stream: number
  place: number
  prev: Hash | null
  sealed: SealCause | null
  isMoving: boolean
  head: number
  root: Hash
  tree: Frontier | null
  keys: readonly ListedKey[]
  verifier: NodeVerifier
}

const ZEROS: Hash = new Uint8Array(32)

/** Opens a chain that begins with the first message of a stream. */
export function openStreamChain({ stream, prev, treeAt }: ChainStart): StreamChain {
  const state: ChainState = {
    logId: '',
    origin: '',
    stream,
    place: 0,
    prev: stream === FIRST_STREAM ? ZEROS : prev,
    sealed: null,
    isMoving: false,
    head: 0,
    root: ZEROS,
    tree: null,
    keys: [],
    verifier: openNodeVerifier('', []),
  }
  return {
    add(place, bytes) {
      const decoded = decodeMessage(bytes)
      if (!decoded.ok) return { fault: decoded.reason }
      const { message } = decoded.signed
      if (state.logId === '' && message.is === 'genesis') begin(state, message, treeAt)
      else if (isAdoption(state, message)) adopt(state, message, treeAt)
      const fault =
        refusalOfPlace(message, place, {
          v: MESSAGE_VERSION,
          logId: state.logId,
          stream: state.stream,
          place: state.place + 1,
          prev: state.prev ?? message.prev,
        }) ??
        state.verifier.refusalOf(decoded.signed) ??
        faultOfContent(state, message)
      if (fault !== null) return { fault }
      const sealed = message.is === 'seal' ? message.why : null
      Object.assign(state, {
        place: sealed === null ? place : 0,
        stream: message.is === 'seal' ? message.next : state.stream,
        prev: digestOfMessage(bytes),
        sealed,
        isMoving: isMovePart(message),
      })
      return { fault: null, message }
    },
    end: () => ({
      logId: state.logId,
      stream: state.stream,
      place: state.place,
      sealed: state.sealed,
      isMoving: state.isMoving,
      head: state.head,
      vkeys: signing(state).map(({ vkey }) => vkey),
    }),
  }
}

type Genesis = Extract<Message, { is: 'genesis' }>

function begin(state: ChainState, genesis: Genesis, treeAt: ChainStart['treeAt']): void {
  const { logId, identity, head, root, keys } = genesis
  const tree = head === 0 ? emptyFrontier() : treeAt(head)
  Object.assign(state, { logId, origin: identity.origin, head, root, tree })
  changeKeys(state, keys)
}

/** Whether a message begins the stream of a log that continues this one after a fork. */
function isAdoption({ sealed, logId }: ChainState, message: Message): message is Message & Genesis {
  return (
    sealed === 'adopt' && message.is === 'genesis' && message.identity.former.some(({ id }) => id === logId)
  )
}

/** Begins the log after a fork. It follows the seal, or the newest message of the other branch, which is not known here. */
function adopt(state: ChainState, message: Message & Genesis, treeAt: ChainStart['treeAt']): void {
  const { head, tree, prev } = state
  const isSameBranch = prev !== null && isSame(prev, message.prev)
  if (!isSameBranch) state.prev = null
  begin(state, message, (size) => (isSameBranch && size === head ? tree : treeAt(size)))
}

function signing({ keys, origin }: ChainState): readonly ListedKey[] {
  return keys.filter(({ vkey, toSize }) => toSize === null && vkey.startsWith(`${origin}+`))
}

function changeKeys(state: ChainState, keys: readonly ListedKey[]): void {
  state.keys = keys
  state.verifier = openNodeVerifier(
    state.logId,
    signing(state).flatMap(({ vkey }) => parseVkey(sha256, vkey) ?? []),
  )
}

/** Reason why the content of a message does not continue the log; null when it does, and then it is noted. */
function faultOfContent(state: ChainState, message: Message): string | null {
  switch (message.is) {
    case 'commit':
      return faultOfCommit(state, message)
    case 'genesis':
      if (message.identity.id !== message.logId || message.identity.origin !== state.origin)
        return 'it is of another log'
      return faultOfState(state, message) ?? faultOfKeys(state, message.keys)
    case 'keys':
      if (message.head !== state.head)
        return `it changes the keys at seq ${message.head} instead of ${state.head}`
      changeKeys(state, message.keys)
      return null
    case 'version':
      if (message.frames <= MESSAGE_VERSION) return null
      return `messages of version ${message.frames} follow: Daybook ${message.needs} or newer reads them`
    case 'seal':
      if (message.next !== state.stream + 1) return `it names the stream ${message.next} as the next one`
      return faultOfState(state, message)
  }
}

function faultOfState(state: ChainState, of: Readonly<{ head: number; root: Hash }>): string | null {
  if (of.head === state.head && isSame(of.root, rootIn(state))) return null
  return `it names another log than the one at seq ${state.head}`
}

function faultOfKeys({ keys }: ChainState, listed: readonly ListedKey[]): string | null {
  return isDeepStrictEqual(keys, listed) ? null : 'it lists other keys than the stream before'
}

function faultOfCommit(state: ChainState, { first, root, lines, details }: Commit): string | null {
  if (first !== state.head + 1) return `it begins with seq ${first} after seq ${state.head}`
  const { tree } = state
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith(`{"seq":${first + index},`)) return `seq ${first + index} is no event`
    if (tree === null) continue
    const leaf = tryRead(() => HASHER.leaf(formatEntry(line, details[index] ?? null)))
    if (leaf === undefined) return `seq ${first + index} is longer than an event can be`
    appendLeaf(HASHER, tree, leaf)
  }
  state.head += lines.length
  state.root = root
  return isSame(rootIn(state), root) ? null : 'its root is not that of its events'
}

/** Root of the newest tree: computed from the lines when all are known. */
function rootIn({ tree, root }: ChainState): Hash {
  return tree === null ? root : rootOf(HASHER, tree)
}
