import { MIRROR_STATES } from '../../protocol/enumerations.ts'
import type { UpstreamMirror } from '../../protocol/endpoints/description-endpoints.ts'
import { moment, MS_MAX, msOf } from '../../protocol/moment.ts'
import { jsonInteger, type JsonObject, jsonString, objectsOf } from '../../verify/reading/json-values.ts'

/** Most mirrors that are listed. Mirrors that follow each other in a circle have no end. */
const UPSTREAM_MAX = 8
const ADDRESS_LENGTH_MAX = 255

/** The origin as a mirror, and the mirrors that it names, from its `/status`. A malformed one ends the list. */
export function upstreamOf(mirror: JsonObject): readonly UpstreamMirror[] {
  const listed: UpstreamMirror[] = []
  for (const json of [mirror, ...(objectsOf(mirror['upstream']) ?? [])].slice(0, UPSTREAM_MAX)) {
    const one = upstreamMirrorOf(json)
    if (one === null) break
    listed.push(one)
  }
  return listed
}

function upstreamMirrorOf(json: JsonObject): UpstreamMirror | null {
  const address = URL.parse(jsonString(json['of']) ?? '')
  const state = MIRROR_STATES.find((one) => one === json['state'])
  const behindMs = jsonInteger(json['behindMs'])
  const provedAtMs = jsonInteger(json['provedAtMs']) ?? null
  if (state === undefined || behindMs === undefined || behindMs > MS_MAX) return null
  if (provedAtMs !== null && provedAtMs > MS_MAX) return null
  // Pages show the address.
  if (address === null || !/^https?:$/.test(address.protocol) || address.origin.length > ADDRESS_LENGTH_MAX)
    return null
  const provedAt = provedAtMs === null ? null : moment(msOf(provedAtMs)).at
  return { of: address.origin, state, behindMs, provedAt, provedAtMs }
}
