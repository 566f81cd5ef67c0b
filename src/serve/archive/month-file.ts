import type { LogReader, MonthFile, MonthLayout, MonthState, Snapshot } from '../../log/store/reader.ts'
import type { Month } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { PresentEtag } from '../http/etag.ts'
import type { Reply, StreamAsk } from '../http/route.ts'
import { formatFileName, monthNotFound, parseManifest } from './file-name.ts'
import { askedBytes, disposition, limitStall } from './immutable-file.ts'

const TYPE = 'application/gzip'
/** Reply with one file of a month. */
type MonthFiles = (ask: StreamAsk, month: Month, file: MonthFile) => Reply

/** A stretch of a file, `from` inclusive, `to` exclusive. */
type Stretch = Readonly<{ month: Month; file: MonthFile; layout: MonthLayout; from: number; to: number }>

/** Context of a reply. The snapshot gives its headers and first bytes; later bytes come from later snapshots. */
type Session = Readonly<{ log: LogReader; snapshot: Snapshot; ask: StreamAsk }>

/** Opens the replies for month files. `presentEtag` makes the ETags of open months. */
export function openMonthFiles(log: LogReader, presentEtag: PresentEtag): MonthFiles {
  const openLayout = cacheOpenLayouts()
  return (ask, month, file) =>
    log.snapshot((snapshot) => {
      const state = snapshot.month(month)
      if (state === undefined) return monthNotFound(snapshot.months())
      const session = { log, snapshot, ask }
      if (state.manifest !== null) return closedReply(session, state, state.manifest, file)
      const etag = presentEtag(snapshot.head.seq)
      return openReply(session, month, file, { etag, layout: () => openLayout(snapshot, month, file) })
    })
}

/** Reply with a closed month, which never changes. */
function closedReply(session: Session, state: MonthState, manifestJson: string, file: MonthFile): Reply {
  const { snapshot, ask } = session
  const { month, lastSeq } = state
  const manifest = parseManifest(manifestJson)
  const { sha256, bytes } = file === 'events' ? manifest.gzip : manifest.details
  const name = formatFileName(month, file)
  const asked = askedBytes(ask, { name, type: TYPE, bytes, sha256, lastSeq })
  if (asked.is !== 'asked') return asked
  const layout = layoutOf(snapshot, month, file)
  if (fileBytes(layout) !== bytes) throw new Error(`${name} is not the file that its manifest records`)
  const { from, to } = asked
  return asked.reply(chunksOf(session, { month, file, layout, from, to }))
}

/** Reply with the open month up to the head of the snapshot, without events published during the transfer. */
function openReply(
  session: Session,
  month: Month,
  file: MonthFile,
  present: Readonly<{ etag: string; layout: () => MonthLayout }>,
): Reply {
  const head = String(session.snapshot.head.seq)
  const headers = {
    'Accept-Ranges': 'none',
    'Content-Disposition': disposition(formatFileName(month, file)),
    'Daybook-Archive-State': 'open',
    'Daybook-Last-Seq': head,
    'Daybook-Seq': head,
  }
  const caching = { keep: 'revalidate', etag: present.etag, headers } as const
  if (session.ask.holds(present.etag)) return { is: 'unchanged', compress: false, ...caching }
  const layout = present.layout()
  const bytes = fileBytes(layout)
  const chunks = chunksOf(session, { month, file, layout, from: 0, to: bytes })
  return { is: 'file', status: 200, type: TYPE, bytes, chunks, ...caching }
}

/** Bytes of a stretch, in pieces. Each piece is read in its own snapshot after the previous one is sent. */
function chunksOf({ log, snapshot, ask }: Session, stretch: Stretch): () => Iterable<Uint8Array> {
  if (ask.method === 'HEAD') return () => []
  // Read before the status is sent, so that a damaged store gives a 500 instead of a truncated file.
  const first = pieceAt(snapshot, stretch, stretch.from)
  limitStall(ask)
  return function* () {
    yield first
    let at = stretch.from + first.length
    while (at < stretch.to) {
      const next = at
      const piece = log.snapshot((later) => pieceAt(later, stretch, next))
      yield piece
      at += piece.length
    }
  }
}

function pieceAt(snapshot: Snapshot, { month, file, layout, to }: Stretch, at: number): Uint8Array {
  const { storedBytes, ending } = layout
  if (at >= storedBytes) return ending.subarray(at - storedBytes, to - storedBytes)
  // Other segments would not fit the bytes already sent. The client retries a broken transfer.
  if (!snapshot.keepsMonth(month, file, storedBytes))
    throw new Error(`${formatFileName(month, file)} has other segments than when its transfer began`)
  return snapshot.monthChunk(month, file, at, Math.min(to, storedBytes))
}

/**
 * Caches the newest layout of each open file while it is right, so that its ending is compressed once for each head.
 */
function cacheOpenLayouts(): (snapshot: Snapshot, month: Month, file: MonthFile) => MonthLayout {
  const newest = new Map<MonthFile, Readonly<{ head: Seq; layout: MonthLayout }>>()
  return (snapshot, month, file) => {
    const head = snapshot.head.seq
    const known = newest.get(file)
    if (known?.head === head && snapshot.keepsMonth(month, file, known.layout.storedBytes))
      return known.layout
    const layout = layoutOf(snapshot, month, file)
    newest.set(file, { head, layout })
    return layout
  }
}

function layoutOf(snapshot: Snapshot, month: Month, file: MonthFile): MonthLayout {
  const layout = snapshot.monthLayout(month, file)
  if (layout === undefined) throw new Error(`the files of ${month} are gone from the store`)
  return layout
}

function fileBytes({ storedBytes, ending }: MonthLayout): number {
  return storedBytes + ending.length
}
