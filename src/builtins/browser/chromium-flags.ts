/** What Chromium is started with: no window, no network but through the proxy, nothing that it does by itself. */
export function listChromiumFlags(facts: {
  readonly profile: string;
  readonly proxyPort: number;
  readonly hasSandbox: boolean;
}): readonly string[] {
  return [
    '--headless',
    // The daemon speaks through a pipe: there is no port that a page could find.
    '--remote-debugging-pipe',
    '--no-startup-window',
    `--user-data-dir=${facts.profile}`,
    `--proxy-server=http://127.0.0.1:${facts.proxyPort}`,
    // Also for this machine itself, which Chromium would else reach directly.
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-sync',
    '--disable-extensions',
    '--disable-default-apps',
    '--disable-breakpad',
    '--disable-notifications',
    '--deny-permission-prompts',
    '--disable-3d-apis',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--mute-audio',
    '--no-pings',
    '--no-first-run',
    '--no-default-browser-check',
    '--metrics-recording-only',
    '--password-store=basic',
    '--use-mock-keychain',
    '--renderer-process-limit=4',
    '--js-flags=--max-old-space-size=256',
    `--disable-features=${disabledFeatures.join(',')}`,
    ...(facts.hasSandbox ? [] : ['--no-sandbox']),
  ];
}

const disabledFeatures = [
  'AsyncDns',
  'AutofillServerCommunication',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'DnsOverHttps',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'WebBluetooth',
  'WebUSB',
];
