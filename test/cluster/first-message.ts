import { join } from 'node:path'
import { makeKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { genesisOf } from '../../src/log/message/genesis.ts'
import { encodeMessage } from '../../src/log/message/message-frame.ts'
import { certifyNode } from '../../src/log/message/node-key.ts'
import { createStore, openForWriting, readIdentity } from '../../src/log/store/store.ts'
import { changeKeys } from '../../src/log/tree/ready-log.ts'
import { signingKeyOf } from '../story/signing.ts'

const DIGEST_BYTES = 32

/** Makes the key of a new log, and the first message of its stream. Returns the message and the file of the key. */
export function makeFirstMessage(folder: string): Readonly<{ bytes: Uint8Array; keyFile: string }> {
  const keyFile = join(folder, 'log.key')
  const key = makeKeyFile(keyFile, '--signing-key-file')

  const path = join(folder, 'first.db')
  createStore(path, { origin: 'daybook.test/cluster', chain: 'solana', simulated: false })
  const db = openForWriting(path)
  try {
    changeKeys(db, { keys: [key], acceptNewKey: false })
    const { id: logId } = readIdentity(db)
    const place = { v: 1, logId, stream: 1, place: 1, prev: new Uint8Array(DIGEST_BYTES) } as const
    const node = certifyNode(logId, signingKeyOf('11'.repeat(DIGEST_BYTES)), key)
    return { bytes: encodeMessage({ ...place, ...genesisOf(db) }, node), keyFile }
  } finally {
    db.close()
  }
}
