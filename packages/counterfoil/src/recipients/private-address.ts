import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Addresses that a recipient may not have unless its definition says so, so that a configured or resolved
 * name cannot reach this machine or its neighbours (server-side request forgery, CWE-918).
 *
 * Source: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890), everything there that
 * is not globally reachable, and the forms of IPv6 that carry an IPv4 address inside.
 */
const refusedIpv4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8], // "this network"; 0.0.0.0 reaches loopback on Linux
  ['10.0.0.0', 8], // private, RFC 1918
  ['100.64.0.0', 10], // carrier-grade NAT, RFC 6598
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a public number that Azure routes to the host of the virtual machine
  ['169.254.0.0', 16], // link-local, with the metadata services of clouds
  ['172.16.0.0', 12], // private, RFC 1918
  ['192.0.0.0', 24], // IETF protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relay, withdrawn
  ['192.168.0.0', 16], // private, RFC 1918
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
]

/**
 * The only IPv6 space in public use. Outside of it, and so refused: unspecified, loopback, IPv4-mapped and
 * -compatible, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48), discard-only, unique local, link-local, site-local,
 * multicast and whatever is reserved.
 */
const globalIpv6 = ['2000::', 3] as const

const refusedIpv6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23], // IETF protocol assignments: Teredo, ORCHID, benchmarking
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address inside
  ['3fff::', 20], // documentation
]

const refused4 = listOf(refusedIpv4, 'ipv4')
const refused6 = listOf(refusedIpv6, 'ipv6')
const global6 = listOf([globalIpv6], 'ipv6')

/**
 * True for an address that is not on the public internet, and for anything that is no address at all.
 *
 * @param address an IPv4 or IPv6 address in text, without brackets; a zone (`%eth0`) is ignored
 */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIPv4(plain)) return refused4.check(plain, 'ipv4')
  if (isIPv6(plain)) return !global6.check(plain, 'ipv6') || refused6.check(plain, 'ipv6')
  return true
}

function listOf(networks: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family)
  return list
}
