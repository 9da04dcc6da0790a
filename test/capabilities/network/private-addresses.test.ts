import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeAddress } from '../../../src/capabilities/network/private-addresses.ts';

describe('judgeAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '2606:4700::1111',
    '[2a00:1450:4001::1]',
    '100.63.0.1',
    '100.128.0.1',
  ])('takes %s as public', (address) => {
    expect(judgeAddress(address).kind).toBe('public');
  });

  it.each([
    ['0.0.0.0', 'this network'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'carrier'],
    ['100.100.100.200', 'carrier'],
    ['127.0.0.1', 'this machine'],
    ['127.255.255.254', 'this machine'],
    ['169.254.169.254', 'link-local'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.1', 'reserved'],
    ['192.0.0.192', 'metadata'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.168.0.1', 'private'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['168.63.129.16', 'metadata'],
    ['::', 'this network'],
    ['::1', 'this machine'],
    ['[::1]', 'this machine'],
    ['::127.0.0.1', 'IPv4 inside'],
    ['::8.8.8.8', 'IPv4 inside'],
    ['::ffff:8.8.8.8', 'IPv4 inside'],
    ['::ffff:7f00:1', 'IPv4 inside'],
    ['::ffff:0:127.0.0.1', 'IPv4 inside'],
    ['64:ff9b::7f00:1', 'IPv4 inside'],
    ['64:ff9b:1::7f00:1', 'IPv4 inside'],
    ['2002:7f00:1::', 'IPv4 inside'],
    ['2001:0:7f00:1::', 'IPv4 inside'],
    ['2a00:1450::5efe:7f00:1', 'IPv4 inside'],
    ['2a00:1450::200:5efe:a00:1', 'IPv4 inside'],
    ['fe80::1', 'link-local'],
    ['fec0::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'reserved'],
    ['2001:2::1', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['100::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('takes %s as special: %s', (address, range) => {
    expect(judgeAddress(address)).toMatchObject({ kind: 'special', range: expect.stringContaining(range) });
  });

  it.each([
    'fe80::1%eth0',
    '::1%0',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '',
    'localhost',
    '[127.0.0.1',
    '1.2.3.4.5',
    '::1/128',
  ])('takes %j as no address', (address) => {
    expect(judgeAddress(address).kind).toBe('invalid');
  });

  it('never takes a private IPv4 address for public, however it is carried', () => {
    const inside = fc
      .tuple(fc.constantFrom(10, 127, 169), fc.nat(255), fc.nat(255), fc.nat(255))
      .map(([a, b, c, d]) => (a === 169 ? [a, 254, c, d] : [a, b, c, d]));
    const carriers = fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2a00:1:2:3:0:5efe:');
    fc.assert(
      fc.property(inside, carriers, (octets, carrier) => {
        const ipv4 = octets.join('.');
        expect(judgeAddress(ipv4).kind).toBe('special');
        expect(judgeAddress(`${carrier}${ipv4}`).kind).toBe('special');
        const hex = octets.map((octet) => octet.toString(16).padStart(2, '0')).join('');
        expect(judgeAddress(`2002:${hex.slice(0, 4)}:${hex.slice(4)}::1`).kind).toBe('special');
      }),
    );
  });
});
