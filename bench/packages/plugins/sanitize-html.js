import sanitize from 'sanitize-html';

export default {
  version: '1.0.0',
  description: 'Uses sanitize-html. Use to see that the package works.',
  async handler() {
    return sanitize('<p onclick="x()">a <script>alert(1)</script><b style="color: red; position: fixed">b</b></p>', {
      allowedAttributes: { b: ['style'] },
      allowedStyles: { b: { color: [/^red$/] } },
    });
  },
  examples: [{ args: {}, expect: '<p>a <b style="color:red">b</b></p>' }],
};
