throw new Error('The module broke.');
